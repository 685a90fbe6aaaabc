//! The thesis's own figures: Vilbergsson 2012, tables 4.1 and 4.2.

/// The averages of one platform of the thesis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThesisPlatform {
    /// Its name there.
    pub name: &'static str,
    /// Milliseconds for 100, 200, ... 1000 products.
    pub milliseconds: [f64; 10],
}

/// The rows of tables 4.1 and 4.2: 10 runs on the card, 10 of 15 on the processors.
pub const PLATFORMS: [ThesisPlatform; 3] = [
    ThesisPlatform {
        name: "GTX570 GPU (2012)",
        milliseconds: [
            1.556_630_4,
            3.063_76,
            4.574_966,
            6.063_792,
            7.623_904,
            9.178_937_6,
            10.617_72,
            12.069_64,
            13.700_77,
            15.2143,
        ],
    },
    ThesisPlatform {
        name: "E8400 CPU (2012)",
        milliseconds: [
            3.922_94,
            7.812_669,
            11.671_34,
            15.662_99,
            19.549_98,
            23.399_674_4,
            27.249_91,
            31.234_46,
            35.271_92,
            39.130_96,
        ],
    },
    ThesisPlatform {
        name: "T7100 CPU (2012)",
        milliseconds: [
            6.639_120_9,
            13.287_48,
            19.333_61,
            26.158_98,
            32.229_18,
            39.850_584,
            44.033_74,
            51.964_39,
            57.657_11,
            68.8065,
        ],
    },
];

impl ThesisPlatform {
    /// Milliseconds for a number of products, if the thesis has it.
    pub fn at(&self, products: usize) -> Option<f64> {
        let whole = products.is_multiple_of(100).then_some(products / 100)?;
        self.milliseconds.get(whole.checked_sub(1)?).copied()
    }
}
