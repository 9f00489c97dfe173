//! Properties: what is encoded decodes to itself, and merged views equal plain arrays written in core order.

#![allow(clippy::unwrap_used)]

use gpsimd_device::call::shared::{Role, SharedMemory};
use gpsimd_device::call::wire::{Call, Descriptor, Location};
use gpsimd_device::memory::view::{View, merge};
use gpsimd_device::{Dtype, Tensor, TensorSpec};
use proptest::prelude::*;

fn descriptors() -> impl Strategy<Value = Descriptor> {
    let dtype = prop::sample::select(&Dtype::ALL[..]);
    let shape = prop_oneof![
        prop::collection::vec(1u64..=8, 1..=8),
        prop::collection::vec(1u64..=60_000, 1..=2),
        (65_536u64..=u64::from(u32::MAX)).prop_map(|size| vec![size]),
    ];
    let place = prop_oneof![
        any::<u64>().prop_map(|addr| (Location::Hbm, addr)),
        any::<u32>().prop_map(|addr| (Location::Sbuf, addr.into()))
    ];
    (dtype, shape, place).prop_map(|(dtype, shape, (location, addr))| Descriptor {
        location,
        addr,
        spec: TensorSpec { dtype, shape },
    })
}

const LEN: usize = 10_000;

#[derive(Debug, Clone)]
struct Write {
    core: u8,
    offset: usize,
    bytes: Vec<u8>,
    known: bool,
}

fn writes() -> impl Strategy<Value = Vec<Write>> {
    let write = (0u8..8, 0..LEN, prop::collection::vec(any::<u8>(), 1..6000), any::<bool>());
    let write = write.prop_map(|(core, offset, mut bytes, known)| {
        bytes.truncate(LEN - offset);
        Write { core, offset, bytes, known }
    });
    prop::collection::vec(write, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn calls_decode_to_themselves(function_id in 0u8..255, arguments in prop::collection::vec(descriptors(), 1..=10)) {
        let call = Call { function_id, arguments };
        let bytes = call.encode().unwrap();
        prop_assert_eq!(bytes.len(), 64 * (call.arguments.len() + 1));
        prop_assert_eq!(Call::decode(&bytes).unwrap(), call);
    }

    #[test]
    fn decoding_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..700)) {
        gpsimd_device::fuzz::fuzz_chain(&bytes);
    }

    #[test]
    fn views_are_arrays(writes in writes(), role in prop::sample::select(&[Role::Input, Role::Output][..])) {
        let mut shared = SharedMemory::default();
        let spec = TensorSpec::new(Dtype::Uint8, [LEN as u64]);
        let start: Vec<u8> = match role {
            Role::Output => vec![0; LEN],
            _ => (0..LEN).map(|i| i as u8).collect(),
        };
        if role == Role::Output {
            shared.place_output("t", spec, Location::Hbm, 1 << 20).unwrap();
        } else {
            let tensor = Tensor { spec, data: start.clone() };
            shared.place("t", tensor, role, Location::Hbm, 1 << 20).unwrap();
        }
        let (mut data, mut who, mut known) = (start.clone(), vec![0u8; LEN], vec![role != Role::Output; LEN]);
        let mut done = Vec::new();
        for core in 0..8 {
            let mut view = View::new(&shared);
            let mut own = start.clone();
            for write in writes.iter().filter(|write| write.core == core) {
                let range = write.offset..write.offset + write.bytes.len();
                view.write_range(0, write.offset, &write.bytes, &vec![write.known; write.bytes.len()]);
                own[range.clone()].copy_from_slice(&write.bytes);
                data[range.clone()].copy_from_slice(&write.bytes);
                known[range.clone()].fill(write.known);
                who[range].iter_mut().for_each(|who| *who |= 1 << core);
            }
            let (mut seen, mut init) = (vec![0; LEN], vec![false; LEN]);
            view.read_range(0, 0, &mut seen, &mut init);
            prop_assert_eq!(seen, own, "core {} sees the start and its own writes", core);
            done.push((core, view.into_writes()));
        }
        let merged = merge(&shared, 0, &done);
        prop_assert_eq!(merged.data, data);
        prop_assert_eq!(merged.writers, who);
        prop_assert_eq!(merged.initialised, known);
    }
}
