//! Names that no source and no library defines, as the linker misses them; and what the device's libraries lack.
//!
//! Unaware of what compilers say.

use crate::run::diagnose::names;
use crate::run::diagnose::output::Message;
use crate::words::failed::Verdict;

/// What the libraries of the device lack, by the start of what the linker misses: what it was used for, and what to do.
const MISSING: &[(&[&str], &str, &str)] = &[
    (
        &["__atomic_", "__sync_"],
        "std::atomic is used: the cores have no atomic instructions, and share no memory that these could guard",
        "use a plain variable: a core runs one thread; cores do not see each other's writes while they run",
    ),
    (
        &["__emutls_get_address", "__tls_get_addr"],
        "thread_local is used: there are no threads on the device",
        "write static: a core runs one thread, and each has its own copy",
    ),
    (
        &["std::chrono::", "sleep", "usleep", "nanosleep", "clock_gettime", "gettimeofday", "clock("],
        "time is asked for: the device's libraries have no clock",
        "do without; `gpsimd-build run` counts instructions and estimates cycles",
    ),
    (
        &[
            "pthread_",
            "std::thread::",
            "std::condition_variable",
            "std::mutex",
            "__gthread",
            "std::this_thread",
        ],
        "threads are used: a core runs one",
        names::NO_THREADS,
    ),
    (
        &[
            "std::__throw_regex_error",
            "std::__cxx11::regex_traits",
            "std::locale",
            "std::ctype",
            "std::__cxx11::collate",
            "vtable for std::__detail::_",
        ],
        "<regex> or a locale is used: the device's C++ library has neither",
        "compare the characters by hand",
    ),
    (
        &[
            "std::basic_ostream",
            "std::ostream",
            "std::cout",
            "std::cerr",
            "std::ios_base",
            "std::__ostream_insert",
            "std::basic_istream",
            "std::istream",
            "std::cin",
            "std::__cxx11::basic_stringstream",
            "std::__cxx11::basic_ostringstream",
            "std::__cxx11::basic_istringstream",
            "vtable for std::basic_",
            "vtable for std::__cxx11::basic_",
        ],
        "C++ streams are used: the device's C++ library has none",
        "print with printf; write numbers into text with snprintf",
    ),
    (
        &[
            "std::basic_ifstream",
            "std::basic_ofstream",
            "std::basic_fstream",
            "std::basic_filebuf",
            "std::filesystem",
            "open(",
            "mmap",
            "opendir",
            "mkdir",
        ],
        "files are used: the device has none",
        "pass the data as a tensor",
    ),
    (
        &["std::random_device", "getentropy"],
        "a source of randomness is used: the device has none",
        "pass a seed, or random numbers, as an argument",
    ),
    (
        &["typeinfo for", "__cxa_throw", "__cxa_begin_catch", "__gxx_personality", "_Unwind_"],
        "exceptions or type information are used: the device has neither",
        "check with TORCH_CHECK or assert, which print and end the program",
    ),
    (
        &["socket", "getenv", "system", "fork", "exec", "kill", "getpid"],
        "an operating system is asked: the device has none",
        "pass what the kernel must know as an argument",
    ),
];

/// Names that nothing defines: what they belong to, where that is known, else the first of them.
pub(super) fn undefined(errors: &[Message]) -> Verdict {
    let name = |error: &Message| {
        let text = error.text.strip_prefix("undefined reference to ").unwrap_or_default();
        text.trim_matches(['`', '\'']).to_owned()
    };
    let place = || errors.iter().find_map(|error| error.place.clone());
    for (starts, headline, remedy) in MISSING {
        let is_of_it = |error: &&Message| starts.iter().any(|start| name(error).starts_with(start));
        if errors.iter().take(1).any(|error| is_of_it(&error)) {
            return Verdict {
                code: "link::no_system",
                headline: (*headline).to_owned(),
                remedy: (*remedy).to_owned(),
                place: place(),
            };
        }
    }
    let first = errors.first().map(name).unwrap_or_default();
    Verdict {
        code: "link::undefined",
        headline: format!("`{first}` is called, and no source and no library defines it"),
        remedy: "name the source that defines it, too; the device's C library has no files, threads or time"
            .to_owned(),
        place: place(),
    }
}
