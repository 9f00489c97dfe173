//! Library handles: select, prelink, stage into device memory, name, destroy.
//!
//! Unaware of load records. Facts: spec `prelink.md` §11, §12, §15, §16.3, `load-and-dispatch.md` §3.

use crate::error::PrelinkError;
use crate::generation::Generation;
use crate::memory::{DeviceMemory, Handle};
use crate::mode::Mode;
use crate::prelink::{Prelinked, prelink};
use crate::registry::Registry;
use crate::result::ResultCode;
use crate::selector::{Build, Environment, selector};
use crate::ucpl;

/// Most bytes of a handle's name.
pub const MAX_NAME: usize = 32;

/// Which context a handle or core belongs to; the owner of the contexts numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContextId(pub u64);

/// How bad a log line is. The vendor's library uses only these two of its severities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub enum Severity {
    /// 1.
    Error,
    /// 4.
    Info,
}

/// A line of the context's log.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct LogLine {
    /// How bad it is.
    pub severity: Severity,
    /// The text, without a line end.
    pub text: String,
}

/// A log as it was written, oldest line first.
pub type Log = Vec<LogLine>;

/// Host side of one device: its memory, its log, and the rules in force.
#[derive(Debug)]
pub struct Context<M> {
    /// The context's number.
    pub id: ContextId,
    /// Device memory.
    pub memory: M,
    /// What the environment says.
    pub environment: Environment,
    /// Which vendor build's generations are known.
    pub build: Build,
    /// Rules of the prelinker.
    pub mode: Mode,
    /// What was logged.
    pub log: Log,
    live: usize,
    made: u64,
}

/// `nrtucode_ll_t`: a library that can be loaded.
#[derive(Debug, PartialEq, Eq)]
pub struct Library {
    context: ContextId,
    staged: Option<Staged>,
    selector: u64,
    name: String,
}

/// A staged image. Its address does not change, so it is asked for once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Staged {
    handle: Handle,
    addr: u64,
    size: u64,
}

/// Why there is no handle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum CreateError {
    /// Lookup, allocation, staging or size.
    #[error("the library was not created: {0}")]
    #[diagnostic(transparent)]
    Code(ResultCode),
    /// The prelinker's reason.
    #[error("the library was not created, prelinking failed with status {}", .0.status())]
    #[diagnostic(transparent)]
    Prelink(#[source] PrelinkError),
}

impl CreateError {
    /// What the vendor's `nrtucode_ll_create` returns.
    pub fn code(&self) -> ResultCode {
        match self {
            CreateError::Code(code) => *code,
            CreateError::Prelink(PrelinkError::ImageTooLarge { .. }) => ResultCode::NoSpace,
            CreateError::Prelink(_) => ResultCode::Relocation,
        }
    }
}

impl From<ResultCode> for CreateError {
    fn from(code: ResultCode) -> CreateError {
        CreateError::Code(code)
    }
}

impl<M: DeviceMemory> Context<M> {
    /// A context with an empty log, the shipped build's generations and strict rules.
    pub fn new(id: ContextId, memory: M, environment: Environment) -> Context<M> {
        let (build, mode) = (Build::Shipped, Mode::Strict);
        Context { id, memory, environment, build, mode, log: Log::new(), live: 0, made: 0 }
    }

    /// Handles made and not yet destroyed.
    pub fn live_libraries(&self) -> usize {
        self.live
    }

    /// `nrtucode_ll_create`. On SUNDA the handle is empty: nothing is prelinked, nothing staged.
    ///
    /// # Errors
    /// [`CreateError`]; nothing stays allocated then.
    pub fn create(
        &mut self,
        registry: &Registry,
        coretype: u32,
        flavor: u32,
        library: u64,
    ) -> Result<Library, CreateError> {
        let selector = selector(library, self.environment);
        let elf = registry.get(self.build, coretype, flavor, selector)?;
        let generation = self.build.generation(coretype)?;
        let staged = match generation {
            Generation::Sunda => None,
            _ => Some(self.prelink_and_stage(elf, generation)?),
        };
        Ok(self.made(staged, selector))
    }

    /// A handle for an image that was prelinked elsewhere: its very bytes are staged. The vendor's library has no such call;
    /// for it, images are what only it makes.
    ///
    /// # Errors
    /// [`ResultCode::NoSpace`] for more than an image may have, and the codes of the device's memory.
    pub fn adopt(&mut self, image: &[u8], library: u64) -> Result<Library, ResultCode> {
        let size = image.len() as u64;
        if size > ucpl::MAX_IMAGE {
            return Err(ResultCode::NoSpace);
        }
        let handle = self.memory.malloc(size, ucpl::IMAGE_ALIGN)?;
        if let Err(code) = self.memory.write(handle, 0, image) {
            self.memory.free(handle);
            return Err(code);
        }
        let staged = Staged { handle, addr: self.memory.device_addr(handle), size };
        Ok(self.made(Some(staged), selector(library, self.environment)))
    }

    fn made(&mut self, staged: Option<Staged>, selector: u64) -> Library {
        self.made += 1;
        let name = format!("nrtucode_ll_t@{:#x}", self.made);
        self.say(Severity::Info, format!("Initialized {name}"));
        self.live += 1;
        Library { context: self.id, staged, selector, name }
    }

    fn prelink_and_stage(&mut self, elf: &[u8], generation: Generation) -> Result<Staged, CreateError> {
        let log = &mut self.log;
        let mut sink = |text: &str| log.push(LogLine { severity: Severity::Error, text: text.to_owned() });
        let prelinked = prelink(elf, &generation.bounds(), self.mode, &mut sink).map_err(|error| {
            if !matches!(error, PrelinkError::ImageTooLarge { .. }) {
                sink(&format!("Failed prelink with status = {}", error.status()));
            }
            CreateError::Prelink(error)
        })?;
        Ok(self.stage(&prelinked)?)
    }

    /// Allocates and writes an image: header, code, data; the gap keeps what the allocation held. Its size is judged
    /// only then, as the vendor does.
    fn stage(&mut self, prelinked: &Prelinked) -> Result<Staged, ResultCode> {
        let header = &prelinked.header;
        let size = header.total();
        let handle = self.memory.malloc(size, ucpl::IMAGE_ALIGN).inspect_err(|_| {
            if let Some(text) = self.memory.complaint() {
                let text = format!("nrtucode_context_t@{:#x}: {text}", self.id.0);
                self.log.push(LogLine { severity: Severity::Error, text });
            }
        })?;
        let parts = [
            (0, &header.encode()[..]),
            (header.code_off, &prelinked.code),
            (header.data_off, &prelinked.data),
        ];
        let written =
            parts.iter().try_for_each(|&(off, part)| self.memory.write(handle, u64::from(off), part));
        let fits = match size <= ucpl::MAX_IMAGE {
            true => Ok(()),
            false => Err(ResultCode::NoSpace),
        };
        if let Err(code) = written.and(fits) {
            if written.is_ok() {
                self.say(
                    Severity::Error,
                    "Prelinked library would be larger than the available buffer on device".into(),
                );
            }
            self.memory.free(handle);
            return Err(code);
        }
        Ok(Staged { handle, addr: self.memory.device_addr(handle), size })
    }

    /// `nrtucode_ll_destroy`: frees the image. Emits nothing for the device: a loaded library runs on from its copy.
    ///
    /// # Errors
    /// The library itself, if it belongs to another context.
    pub fn destroy(&mut self, library: Library) -> Result<(), Library> {
        if library.context != self.id {
            return Err(library);
        }
        if let Some(staged) = library.staged {
            self.memory.free(staged.handle);
        }
        self.say(Severity::Info, format!("Destroyed {}", library.name));
        self.live -= 1;
        Ok(())
    }

    /// `nrtucode_ll_set_friendly_name`: at most 32 bytes are kept.
    pub fn rename(&mut self, library: &mut Library, name: &str) {
        self.say(Severity::Info, format!("{} renamed {name}", library.name));
        let end = (0..=name.len().min(MAX_NAME)).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
        library.name = name[..end].to_owned();
    }

    fn say(&mut self, severity: Severity, text: String) {
        self.log.push(LogLine { severity, text });
    }
}

impl Library {
    /// The context it was made in.
    pub fn context(&self) -> ContextId {
        self.context
    }

    /// The library index; only its low 32 bits travel in records.
    pub fn selector(&self) -> u64 {
        self.selector
    }

    /// Bytes of the staged image; 0 on SUNDA.
    pub fn size(&self) -> u64 {
        self.staged.map_or(0, |staged| staged.size)
    }

    /// SoC address of the staged image, if there is one.
    pub fn device_addr(&self) -> Option<u64> {
        self.staged.map(|staged| staged.addr)
    }

    /// The name that log lines have.
    pub fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{HostMemory, Unattached};
    use crate::relocate::Relocations;
    use crate::ucpl::Header;

    fn context() -> Context<HostMemory> {
        Context::new(ContextId(7), HostMemory::new(0, 1 << 30), Environment::default())
    }

    /// An image of exactly `total` bytes; sizes that no segment pair gives are written into the header.
    fn image(total: u32) -> Prelinked {
        let header = Header { data_len: total - 0x40, ..Header::new(0x20, 0, 0, 0, 0x1_8000).unwrap() };
        let data = vec![0x11; header.data_len as usize];
        Prelinked {
            header,
            code: vec![0xcc; 0x20],
            data,
            relocations: Relocations::default(),
            kernel_table: None,
        }
    }

    #[test]
    fn the_cap_is_judged_after_the_writes() {
        // prelink.md §11, load-and-dispatch.md §16: 0x10000 passes, 0x10001 is 7
        let mut context = context();
        let staged = context.stage(&image(0x1_0000)).unwrap();
        assert_eq!((staged.size, staged.addr), (0x1_0000, 0));
        assert_eq!(context.memory.at(0, 8), Some(&ucpl::MAGIC[..]));
        assert_eq!(context.memory.at(0x40, 1), Some(&[0x11][..]));
        assert_eq!(context.stage(&image(0x1_0001)), Err(ResultCode::NoSpace));
        assert_eq!(context.memory.allocations(), 1, "the second was freed");
        assert_eq!(
            context.log.last().unwrap().text,
            "Prelinked library would be larger than the available buffer on device"
        );
    }

    #[test]
    fn an_adopted_image_is_staged_as_it_is() {
        let mut context = context();
        context.environment.has_cptc_decode = true;
        let library = context.adopt(b"whatever", 0).unwrap();
        assert_eq!((library.size(), library.selector()), (8, 3));
        assert_eq!(context.memory.at(library.device_addr().unwrap(), 8), Some(&b"whatever"[..]));
        context.destroy(library).unwrap();
        assert_eq!(context.adopt(&[0; 0x1_0001], 0), Err(ResultCode::NoSpace));
        assert_eq!((context.memory.allocations(), context.live_libraries()), (0, 0));
    }

    #[test]
    fn an_unattached_platform_says_so() {
        let mut context = Context::new(ContextId(0x10), Unattached, Environment::default());
        assert_eq!(context.stage(&image(0x100)), Err(ResultCode::Invalid));
        assert_eq!(
            context.log,
            [LogLine {
                severity: Severity::Error,
                text: "nrtucode_context_t@0x10: memhandle platform implementation is required but is not attached"
                    .into()
            }]
        );
    }

    /// Memory whose n-th write fails.
    struct Faulty(HostMemory, usize);

    impl DeviceMemory for Faulty {
        fn malloc(&mut self, size: u64, align: u64) -> Result<Handle, ResultCode> {
            assert_eq!(align, 0x100_0000);
            self.0.malloc(size, align)
        }
        fn free(&mut self, handle: Handle) {
            self.0.free(handle);
        }
        fn read(&self, handle: Handle, offset: u64, into: &mut [u8]) -> Result<(), ResultCode> {
            self.0.read(handle, offset, into)
        }
        fn write(&mut self, handle: Handle, offset: u64, bytes: &[u8]) -> Result<(), ResultCode> {
            self.1 = self.1.checked_sub(1).ok_or(ResultCode::Io)?;
            self.0.write(handle, offset, bytes)
        }
        fn device_addr(&self, handle: Handle) -> u64 {
            self.0.device_addr(handle)
        }
    }

    #[test]
    fn a_failed_write_frees_the_image() {
        for writes in 0..3 {
            let memory = Faulty(HostMemory::new(0, 1 << 30), writes);
            let mut context = Context::new(ContextId(0), memory, Environment::default());
            assert_eq!(context.stage(&image(0x100)), Err(ResultCode::Io));
            assert_eq!(context.memory.0.allocations(), 0);
        }
    }

    #[test]
    fn an_empty_sunda_handle() {
        let mut context = context();
        let mut registry = Registry::new();
        registry.insert(Generation::Sunda, 0, b"never looked at".to_vec());
        let mut library = context.create(&registry, 6, 0, 0).unwrap();
        assert_eq!((library.size(), library.device_addr(), library.selector()), (0, None, 0));
        context.rename(&mut library, "ND[0]NC[0].loadable_library[0] with a tail");
        assert_eq!(library.name(), "ND[0]NC[0].loadable_library[0] w");
        context.destroy(library).unwrap();
        assert_eq!(context.live_libraries(), 0);
        let texts: Vec<&str> = context.log.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(
            texts,
            [
                "Initialized nrtucode_ll_t@0x1",
                "nrtucode_ll_t@0x1 renamed ND[0]NC[0].loadable_library[0] with a tail",
                "Destroyed ND[0]NC[0].loadable_library[0] w",
            ]
        );
    }

    #[test]
    fn refused_before_anything_is_allocated() {
        let mut registry = Registry::new();
        registry.insert(Generation::Cayman, 0, b"no ELF".to_vec());
        let rows = [
            (13, 4, 0, ResultCode::UnknownImage),
            (14, 0, 0, ResultCode::UnknownCore),
            (37, 0, 0, ResultCode::UnknownCore),
            (13, 0, 3, ResultCode::MissingImage),
            (13, 0, 0, ResultCode::Relocation),
        ];
        for (coretype, flavor, library, want) in rows {
            let mut context = context();
            let error = context.create(&registry, coretype, flavor, library).unwrap_err();
            assert_eq!(error.code(), want, "{coretype} {flavor} {library}");
            assert_eq!((context.memory.allocations(), context.live_libraries()), (0, 0));
            if want == ResultCode::Relocation {
                let texts: Vec<&str> = context.log.iter().map(|line| line.text.as_str()).collect();
                assert_eq!(
                    texts,
                    ["Failed to validate ELF shared object file", "Failed prelink with status = 1"]
                );
            }
        }
    }

    #[test]
    fn a_foreign_context_does_not_destroy() {
        let mut registry = Registry::new();
        registry.insert(Generation::Sunda, 0, Vec::new());
        let library = context().create(&registry, 6, 0, 0).unwrap();
        let mut other = Context::new(ContextId(8), HostMemory::new(0, 0), Environment::default());
        assert!(other.destroy(library).is_err());
    }
}
