//! What the example kernels use of a device, against closed forms that were made by hand.

use indexmap::IndexMap;
use tickbound_model::{Bound, Profile};

use super::example::Kernel;

/// The kernel with its usage; `None` without libclang, which CI has.
fn read(mut kernel: Kernel) -> Option<Kernel> {
    kernel.problem.profile = Profile::Resources;
    if tickbound_opencl_c::attach(&mut kernel.problem, &kernel.folder.clone()).is_err() {
        assert!(std::env::var_os("CI").is_none(), "libclang is missing");
        return None;
    }
    Some(kernel)
}

/// Checks `wanted` in a sample of a kernel's configurations; it gets the value of a name, and says what it wants under which
/// names of the usage.
fn agrees(name: &str, wanted: impl Fn(&dyn Fn(&str) -> i64) -> Vec<(&'static str, i64)>) {
    let Some(kernel) = read(Kernel::load(name, "small").unwrap()) else { return };
    for bound in kernel.sample(300) {
        let used = used(&kernel, &bound);
        for (what, count) in wanted(&|name| kernel.value(&bound, name)) {
            assert_eq!(used[what], count, "{what}: {}", kernel.describe(&bound));
        }
    }
}

fn used(kernel: &Kernel, bound: &Bound) -> IndexMap<&'static str, i64> {
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
            ("local_requests", shared * (read + copied)),
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

/// Where groups reach over the edge, all items together do about what there is to do: usage is that of an average item.
#[test]
fn guarded_items_do_it_all() {
    type Work = (&'static str, &'static [(&'static str, i64)], &'static [&'static str]);
    let work: [Work; 2] = [
        (
            "convolution",
            &[("width", 1000), ("height", 203), ("padded", 0)],
            &["width", "height", "filter_width", "filter_height"],
        ),
        (
            "dedispersion",
            &[("samples", 1000), ("measures", 700), ("padded", 0)],
            &["samples", "measures", "channels"],
        ),
    ];
    for (name, inputs, factors) in work {
        let kernel = Kernel::load_with(name, "small", inputs).unwrap();
        let Some(kernel) = read(kernel) else { return };
        let mut guarded = 0;
        for bound in kernel.sample(600) {
            // With shared memory, convolution adds up for nobody too.
            if kernel.problem.scope.slot("use_shmem").is_some_and(|slot| bound.env[slot] == 1) {
                continue;
            }
            let wanted: i64 = factors.iter().map(|name| kernel.value(&bound, name)).product();
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
