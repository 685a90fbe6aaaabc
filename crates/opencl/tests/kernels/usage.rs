//! What the example kernels use of a device, against closed forms that were made by hand.

use indexmap::IndexMap;
use tickbound_model::{Bound, Profile};

use super::example::Kernel;

/// The kernel with its usage; `None` without libclang, which CI has.
pub fn read(mut kernel: Kernel) -> Option<Kernel> {
    kernel.problem.profile = Profile::Resources;
    if tickbound_opencl::attach(&mut kernel.problem, &kernel.folder.clone()).is_err() {
        assert!(std::env::var_os("CI").is_none(), "libclang is missing");
        return None;
    }
    Some(kernel)
}

/// Checks `wanted` in a sample of a kernel's configurations; it gets the value of a name, and says
/// what it wants under which names of the usage.
fn agrees(name: &str, wanted: impl Fn(&dyn Fn(&str) -> i64) -> Vec<(&'static str, i64)>) {
    let Some(kernel) = read(Kernel::load(name, "small").unwrap()) else { return };
    for bound in kernel.sample(300) {
        let used = used(&kernel, &bound);
        for (what, count) in wanted(&|name| kernel.value(&bound, name)) {
            assert_eq!(used[what], count, "{what}: {}", kernel.describe(&bound));
        }
    }
}

pub fn used(kernel: &Kernel, bound: &Bound) -> IndexMap<&'static str, i64> {
    let all = kernel.problem.usage().entries();
    all.map(|(name, number)| (name, number.eval(&bound.env).unwrap())).collect()
}

fn ceil_div(a: i64, b: i64) -> i64 {
    (a + b - 1) / b
}

#[test]
fn matrix_multiplication() {
    agrees("gemm", |of| {
        let (m, n, k) = (of("m"), of("n"), of("k"));
        let (rows, columns) = (of("MWG") / of("MDIMC"), of("NWG") / of("NDIMC"));
        let items = of("MDIMC") * of("NDIMC");
        let steps = k / of("KWG");
        // One instruction moves four floats at most.
        let (wide_m, wide_n) = (of("VWM").min(4), of("VWN").min(4));
        let copied = |tile: i64, wide: i64| steps * tile * of("KWG") / items / wide;
        let (copies_a, copies_b) = (copied(of("MWG"), wide_m), copied(of("NWG"), wide_n));
        let (reads_a, reads_b) = (rows / wide_m * k, columns / wide_n * k);
        let (a, b) = (of("SA"), of("SB"));
        let stored = rows / wide_m * columns;
        let tiles = a * of("MWG") + b * of("NWG");
        let barriers = if a + b > 0 { 2 * steps } else { 0 };
        let local = a * (copies_a + reads_a) + b * (copies_b + reads_b);
        let global = a * copies_a + (1 - a) * reads_a + b * copies_b + (1 - b) * reads_b;
        vec![
            ("real", rows * columns * k),
            ("local_requests", local),
            ("global_requests", global + stored),
            ("local_bytes", 4 * of("KWG") * tiles),
            ("barriers", barriers),
            ("registers", 20 + rows * columns + rows + columns),
            ("spill_uses", 2 * k / of("KWI")),
            ("dram_bytes", 4 * (m * k + k * n + m * n)),
        ]
    });
}

#[test]
fn convolution() {
    agrees("convolution", |of| {
        let (tiles_x, tiles_y) = (of("tile_size_x"), of("tile_size_y"));
        let (width, height) = (of("filter_width"), of("filter_height"));
        let shared = of("use_shmem");
        // Neighbouring windows of an item overlap where the group is smaller than the filter.
        let window = |block: i64, tiles: i64, filter: i64| filter + (tiles - 1) * filter.min(block);
        let read = window(of("block_size_x"), tiles_x, width)
            * window(of("block_size_y"), tiles_y, height);
        let copied = (tiles_x + ceil_div(width - 1, of("block_size_x")))
            * (tiles_y + ceil_div(height - 1, of("block_size_y")));
        let wide = of("block_size_x") * tiles_x + width - 1;
        let area_x = wide + of("use_padding") * ((of("block_size_x") - wide).rem_euclid(32));
        let area_y = of("block_size_y") * tiles_y + height - 1;
        vec![
            ("real", width * height * tiles_x * tiles_y),
            // The filter is read through the pipe of local memory.
            ("local_requests", shared * (read + copied) + width * height),
            ("global_requests", shared * copied + (1 - shared) * read + tiles_x * tiles_y),
            ("local_bytes", 4 * shared * area_x * area_y),
            ("barriers", shared),
            (
                "read_only_requests",
                of("read_only") * (1 - shared) * read + of("read_only") * shared * copied,
            ),
        ]
    });
}

#[test]
fn transpose() {
    agrees("transpose", |of| {
        let (tile, moved) = (of("TILE"), of("TILE") / of("ROWS"));
        // A column of a tile without padding meets in as many banks as its length leaves apart.
        let warp = tile.min(32);
        let column = if of("PAD") == 1 { 1 } else { warp * tile.min(32) / 32 };
        let mut wanted = vec![
            ("local_requests", 2 * moved),
            ("global_requests", 2 * moved),
            ("barriers", 1),
            ("local_bytes", 4 * tile * (tile + of("PAD"))),
        ];
        // Tiles of whole warps: every request is one row.
        if tile % 32 == 0 {
            wanted.push(("local_wavefronts", moved * (1 + column)));
            wanted.push(("global_wavefronts", 2 * moved));
            wanted.push(("global_lines", 2 * moved));
        }
        wanted
    });
}

#[test]
fn dedispersion() {
    agrees("dedispersion", |of| {
        let (down, across) = (of("tile_size_y"), of("tile_size_x"));
        let results = down * across;
        let sums = results * of("channels");
        // Loops over tiles stay loops, as the one over channels is inside; one with a single
        // iteration is none. The loop over channels is tested once in four iterations.
        let tests =
            i64::from(down > 1) * down + i64::from(across > 1) * results + ceil_div(sums, 4);
        let (columns, lines) = (of("columns"), of("lines"));
        let mut wanted = vec![
            // A delay is a product that becomes a whole number: the addition to the sum is another
            // instruction.
            ("real", 2 * sums),
            ("branches", tests),
            // Each sample is at an address that comes from data; delays are read from constant
            // memory, through the pipe of local memory.
            ("integer", 3 * tests + 2 * sums + results),
            ("global_requests", sums + results),
            ("local_requests", sums),
            ("barriers", 0),
            ("registers", 20),
            // A row has a sample more for each measure.
            ("dram_bytes", 4 * columns * lines + of("channels") * (columns + lines - 1)),
        ];
        // A warp is a row. Samples lie in 32 words; results are as far apart as an item's first
        // ones are.
        if of("block_size_x") == 32 {
            let apart = if of("tile_stride_x") == 1 { 1 } else { across };
            let meet = if apart % 2 == 0 { apart } else { 1 };
            wanted.push(("global_wavefronts", sums + results * meet));
        }
        wanted
    });
}

/// Registers for loads in flight of an item with `live` live ones: the rest of its share of a unit
/// with as many groups as live registers allow.
fn registers_for_loads(of: &dyn Fn(&str) -> i64, warps: i64, live: i64) -> i64 {
    let (all, most, granule) =
        (of("registers_per_unit"), of("registers_per_item"), of("register_granule"));
    let live = live.min(most);
    let given = ceil_div(live, granule) * granule;
    let held = (of("warps_per_unit") / warps).min(of("groups_per_unit"));
    let held = held.min((all / (given * warps * 32)).max(1)).max(1);
    let target = most.min(all / (held * warps * 32) / granule * granule);
    (target - live).max(4)
}

#[test]
fn coulomb_by_columns() {
    agrees("coulomb-column", |of| {
        let (points, factor) = (of("Z_ITERATIONS"), of("INNER_UNROLL_FACTOR"));
        let (width, atoms) = (of("WORK_GROUP_SIZE_X"), of("atoms"));
        let items = width * of("WORK_GROUP_SIZE_Y");
        let loads = if of("USE_SOA") == 1 { 4 } else { 1 };
        // A loop that stays one asks for its sum by its counter: sums live in memory, or are chosen
        // from a few registers.
        let places = if factor > 0 { points / factor } else { 1 };
        let bodies = if factor > 0 { atoms * places } else { 0 };
        let memory = i64::from(places > 4);
        let chosen = (1 - memory) * i64::from(places > 1) * 2 * places * 2 * atoms * points;
        let moves = ceil_div(points, 4) + 2 * bodies * ceil_div(factor, 4) + ceil_div(points, 4);
        let words = points + 2 * atoms * points + points;
        // Two rows of 16 results fall into the same banks, and into two lines.
        let rows = 32 / width;
        let lines_of_atoms = ceil_div(atoms * 16 / loads, 128);
        // All groups of a unit load the same atoms.
        let warps = ceil_div(items, 32);
        let groups = of("width") * of("height") * of("depth") / (items * points);
        let held = (of("warps_per_unit") / warps).min(of("groups_per_unit"));
        let held = held.min(ceil_div(groups, of("units_per_device"))).max(1);
        let loaded = 16 * atoms / loads;
        let room = registers_for_loads(of, warps, 24 + points);
        vec![
            // Three coordinates of the item; for each atom three differences and a square, for each
            // point two products with a sum, and the next one; the result is added. A root takes
            // three more.
            ("real", 3 + atoms * (5 + 3 * points) + points + 3 * atoms * points),
            ("convert", 3),
            ("special", atoms * points),
            ("branches", atoms + bodies),
            // Addresses: of the atom's loads, the result's two accesses, and where the sums are
            // cleared, changed and stored.
            (
                "integer",
                3 * (atoms + bodies) + atoms * loads + 2 + memory * (2 + 2 * bodies) + chosen,
            ),
            ("global_requests", atoms * loads + 2 * points + memory * moves),
            // All lanes of a warp want the same atom, of which each has four words; pairs share a
            // phase of a wide load.
            ("global_wavefronts", loads.max(2) * atoms + 2 * points * rows + memory * words),
            ("global_lines", atoms * loads + 2 * points * rows + memory * words),
            ("registers", 20 + 4 + (1 - memory) * points),
            // Results are loaded and stored. Sums are stored, and all that fits is found in L1.
            (
                "l2_bytes",
                8 * items * points
                    + loaded * (64 / held) / 64
                    + memory * 4 * items * (points + atoms * points),
            ),
            ("dram_bytes", 8 * of("width") * of("height") * of("depth") + 16 * atoms / loads),
            // The results are new, and are waited for as often as 16 loads and the registers for
            // them are too few.
            ("far_steps", ceil_div(points, 16).max(ceil_div(points, room)) + lines_of_atoms),
            ("near_steps", atoms - lines_of_atoms + memory * bodies),
        ]
    });
}

/// Where groups reach over the edge, all items together do about what there is to do: usage is that
/// of an average item.
#[test]
fn guarded_items_do_it_all() {
    type Work = (&'static str, i64, &'static [(&'static str, i64)], &'static [&'static str]);
    let work: [Work; 2] = [
        (
            "convolution",
            1,
            &[("width", 1000), ("height", 203), ("padded", 0)],
            &["width", "height", "filter_width", "filter_height"],
        ),
        (
            "dedispersion",
            2,
            &[("samples", 1000), ("measures", 700), ("padded", 0)],
            &["samples", "measures", "channels"],
        ),
    ];
    for (name, each, inputs, factors) in work {
        let kernel = Kernel::load_with(name, "small", inputs).unwrap();
        let Some(kernel) = read(kernel) else { return };
        let mut guarded = 0;
        for bound in kernel.sample(600) {
            // With shared memory, convolution adds up for nobody too.
            if kernel.problem.scope.slot("use_shmem").is_some_and(|slot| bound.env[slot] == 1) {
                continue;
            }
            let wanted: i64 = factors.iter().map(|name| kernel.value(&bound, name)).product();
            let wanted = each * wanted;
            let grid = kernel.problem.grid_sizes(&bound.env).unwrap();
            let items: i64 = grid.iter().map(|[global, _]| global).product();
            let all = used(&kernel, &bound)["real"] * items;
            guarded += i64::from(all != wanted);
            let off = (all - wanted).abs();
            let what = kernel.describe(&bound);
            assert!(off <= items + wanted / 5, "{name}: {wanted}, counted {all}: {what}");
        }
        assert!(guarded > 100, "{name}: {guarded}");
    }
}
