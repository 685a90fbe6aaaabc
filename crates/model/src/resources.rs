//! The resources of a unit and of a device: what a platform states of them for the profile
//! `resources`.

use tickbound_input::named::Named;

tickbound_input::named! {
    /// A part of the profile `resources` that a problem can leave out, to see what it contributes.
    pub enum Part {
        /// Passes of local memory and L1 beyond one a request.
        Wavefronts = "wavefronts",
        /// The rate of addresses of loads and stores.
        Addresses = "addresses",
        /// Lines that L1 looks up.
        Lines = "lines",
        /// What requests take longer on the path for data that is never written.
        ReadOnly = "read-only",
        /// That local memory and L1 are reached through one pipe.
        Pipe = "pipe",
        /// Special functions, conversions and tensor cores.
        Special = "special",
        /// That a warp has the lanes of one scheduler only.
        Schedulers = "schedulers",
        /// That a warp issues its instructions in sequence.
        Issue = "issue",
        /// Registers that do not suffice.
        Spill = "spill",
        /// Everything but the number of warps that limits how many groups a unit holds.
        Occupancy = "occupancy",
        /// Waiting for memory and barriers.
        Latency = "latency",
        /// Bytes that L2 moves.
        L2 = "l2",
        /// Bytes that the cache between L2 and the device's memory moves.
        L3 = "l3",
        /// Bytes that the device's memory moves.
        Dram = "dram",
        /// That a repeated launch finds in the caches what they hold.
        Warm = "warm",
        /// Atomic operations on one address.
        Contention = "contention",
        /// That resources of a unit are not all busy at once.
        Mixing = "mixing",
        /// That the last wave of groups takes as long as a full one.
        Tail = "tail",
        /// That the groups of a launch are started in sequence.
        Dispatch = "dispatch",
        /// What a launch costs.
        Launch = "launch",
        /// Counting: behind a condition on the item only warps with an active item issue.
        Warps = "warps",
        /// Counting: loads before and after a barrier are waited for separately.
        Barriers = "barriers",
        /// Counting: instructions that special functions take for denormal numbers.
        Denormals = "denormals",
        /// Counting: a division by a root is a reciprocal root.
        ReciprocalRoots = "reciprocal-roots",
        /// Counting: neighbours with one address share a phase of a wide request.
        Broadcast = "broadcast",
        /// Counting: constant memory behind a pointer is loaded.
        ConstantLoads = "constant-loads",
        /// Counting: what is known is not loaded again.
        RepeatedLoads = "repeated-loads",
        /// Counting: loads in flight take registers, which limits how many there are.
        LoadRegisters = "load-registers",
        /// Counting: of the waits those are far that are for sectors not seen before.
        NewSectors = "new-sectors",
    }
}

impl Part {
    /// The part with this name.
    pub fn find(name: &str) -> Option<Part> {
        Named::find(name)
    }

    /// Whether it is a rule by which usage is counted in a source, not a part of the formulas:
    /// these are the last ones.
    pub fn is_of_counting(self) -> bool {
        self as usize >= Part::Warps as usize
    }
}

macro_rules! resources {
    ($($(#[doc = $about:tt])+ $name:ident: $least:literal,)+) => {
        /// The resources of a platform. What is absent has no limit and takes no time.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct Resources {
            $($(#[doc = $about])+ pub $name: Option<i64>,)+
        }

        impl Resources {
            /// Each field's name, least value and meaning.
            pub const FIELDS: &'static [(&'static str, i64, &'static str)] =
                &[$((stringify!($name), $least, concat!($($about),+).trim_ascii())),+];

            /// The fields, each as `number` knows it.
            pub fn of(number: impl Fn(&str) -> Option<i64>) -> Resources {
                Resources { $($name: number(stringify!($name))),+ }
            }
        }
    };
}

resources! {
    /// work items of a warp
    warp_width: 1,
    /// schedulers of a unit
    schedulers: 1,
    /// instructions that a unit issues in a clock
    issue_rate: 1,
    /// lanes of a unit for real numbers
    real_lanes: 1,
    /// lanes of a unit for whole numbers
    integer_lanes: 1,
    /// 1 if whole numbers take lanes of real numbers
    integer_shares_real: 0,
    /// lanes of a unit for conversions; absent: those for whole numbers
    convert_lanes: 1,
    /// lanes of a unit for special functions
    special_lanes: 1,
    /// products of 16 bits with sums of 32 bits that tensor cores of a unit do in a clock; absent:
    /// there are none
    tensor_lanes: 1,
    /// lanes of a unit for addresses of loads and stores
    load_store_lanes: 1,
    /// bytes of local memory that a unit moves in a clock
    local_bytes_per_clock: 1,
    /// bytes of L1 that a unit moves in a clock
    l1_bytes_per_clock: 1,
    /// lines that L1 of a unit looks up in a clock
    l1_lines_per_clock: 1,
    /// 1 if local memory and L1 are reached through one pipe
    one_pipe: 0,
    /// hundredths of its time that a request takes longer on the path for data that is never
    /// written
    read_only_percent: 0,
    /// bytes that L2 moves in a clock of a unit, for all units
    l2_bytes_per_clock: 1,
    /// bytes that the cache between L2 and the device's memory moves in a clock of a unit, for all
    /// units
    l3_bytes_per_clock: 1,
    /// megabytes (10^6) that the device's memory moves in a second
    dram_megabytes_per_second: 1,
    /// bytes of L1 in a unit
    l1_size: 1,
    /// bytes of L2
    l2_size: 1,
    /// bytes of a cache between L2 and the device's memory
    l3_size: 1,
    /// 32-bit registers of a unit
    registers_per_unit: 1,
    /// registers of an item are given out in multiples of this
    register_granule: 1,
    /// most registers of an item
    registers_per_item: 1,
    /// items of the group for which the compiler makes registers suffice, for any group
    assumed_group_items: 1,
    /// most groups in a unit
    groups_per_unit: 1,
    /// barriers of a unit, of which each group of more than one warp takes one
    barriers_per_unit: 1,
    /// most warps in a unit
    warps_per_unit: 1,
    /// local memory is given out in multiples of this many bytes
    local_granule: 1,
    /// 1 if compilers keep loads in the order of the source
    source_order: 0,
    /// bytes of an item, in a vector, that one instruction works on; absent: 4
    vector_bytes: 1,
    /// instructions of a division of real numbers, beside one on the lanes for special functions;
    /// absent: 8
    real_division: 0,
    /// banks of local memory
    banks: 1,
    /// bytes of a cache line
    line_bytes: 1,
    /// bytes of a line that are loaded together
    sector_bytes: 1,
    /// clocks from a load to its data in L1
    l1_latency: 0,
    /// clocks from a load to its data in local memory
    local_latency: 0,
    /// clocks from a load to its data in L2
    l2_latency: 0,
    /// clocks from a load to its data in the cache between L2 and the device's memory
    l3_latency: 0,
    /// clocks from a load to its data in the device's memory
    dram_latency: 0,
    /// clocks of a barrier
    barrier_latency: 0,
    /// clocks of an atomic operation on an address of global memory that others work on
    shared_atomic_clocks: 0,
    /// picoseconds from the start of one group to that of the next, for the whole device
    group_picoseconds: 0,
    /// nanoseconds of a launch
    launch_nanoseconds: 0,
    /// for floors: greatest clock that the driver admits, or the one it is locked at, in MHz
    greatest_mhz: 1,
    /// for floors: megabytes (10^6) a second at most, as the bus is wide and its clock is
    greatest_dram_megabytes_per_second: 1,
    /// for floors: bytes that a unit gets from L2, or gives it, in a clock
    l2_port_bytes: 1,
    /// for floors: operations on real numbers of a lane in a clock; absent: 1
    operations_of_lane: 1,
    /// for floors: 1 if instructions of all kinds share the rate of issue
    issue_shared: 0,
    /// for floors: 1 if a request may bring neighbours from any address
    loads_unaligned: 0,
    /// for floors: clocks from an operation on real numbers to one that depends on it
    dependent_clocks: 1,
    /// for floors: picoseconds from the start of one group to that of the next at least
    least_group_picoseconds: 0,
}
