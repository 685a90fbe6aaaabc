//! Functions of CUDA as those of OpenCL C.

use clang::Entity;

use super::super::state::Tree;
use super::super::types::INT;
use super::functions::is_simple;
use crate::ast::{CBinaryOp, CExpr, ExprKind, ScalarType, Type, UnaryOp, VariableId};
use crate::lines::lists;

/// Functions of CUDA and those of OpenCL C with the same arguments. These and others are listed
/// without the direction in which they round, `_rn`.
const SAME: &str = "\
    __expf=native_exp __exp10f=native_exp10 __logf=native_log __log2f=native_log2 \
    __log10f=native_log10 __sinf=native_sin __cosf=native_cos __tanf=native_tan \
    __powf=native_powr __fdividef=native_divide __frcp=native_recip __fsqrt=sqrt \
    __frsqrt=native_rsqrt __drcp=native_recip __dsqrt=sqrt __fmaf=fma __fma=fma __hfma=fma \
    __hfma2=fma hexp=exp h2exp=exp hexp2=exp2 hexp10=exp10 hsqrt=sqrt h2sqrt=sqrt hrsqrt=rsqrt \
    h2rsqrt=rsqrt hlog=log h2log=log hlog2=log2 hlog10=log10 hsin=sin hcos=cos htanh=tanh \
    hrcp=native_recip hfloor=floor hceil=ceil hrint=rint htrunc=trunc __habs=fabs __habs2=fabs \
    __hmax=fmax __hmax2=fmax __hmin=fmin __hmin2=fmin umin=min umax=max llmin=min llmax=max \
    ullmin=min ullmax=max labs=abs __popc=popcount __popcll=popcount __clz=clz __clzll=clz \
    __ffs=ctz __ffsll=ctz __brev=bit_reverse __brevll=bit_reverse __mul24=mul24 __umul24=mul24 \
    __mulhi=mul_hi __umulhi=mul_hi __mul64hi=mul_hi __umul64hi=mul_hi __sad=abs_diff \
    __usad=abs_diff __dp4a=dot_acc_sat __byte_perm=bitselect __funnelshift_l=rotate \
    __funnelshift_r=rotate __float_as_int=as_int __float_as_uint=as_uint __int_as_float=as_float \
    __uint_as_float=as_float __double_as_longlong=as_long __longlong_as_double=as_double \
    __half_as_ushort=as_ushort __ushort_as_half=as_half \
    __bfloat16_as_ushort=as_ushort __ushort_as_bfloat16=as_half rcbrt=cbrt normcdf=erfc \
    erfinv=erfc erfcinv=erfc erfcx=erfc rhypot=hypot lround=round llrint=rint lrint=rint \
    nearbyint=rint finite=isfinite __isnan=isnan __isinf=isinf norm3df=length rnorm3df=length \
    __pipeline_commit=mem_fence __pipeline_wait_prior=mem_fence \
    __threadfence=mem_fence __threadfence_block=mem_fence __threadfence_system=mem_fence \
    cudaGridDependencySynchronize=mem_fence cudaTriggerProgrammaticLaunchCompletion=mem_fence \
    tb_lane=get_sub_group_local_id __syncwarp=__syncwarp __nanosleep=mem_fence printf=printf";

/// Functions of real numbers that both languages have; those of CUDA may end in `f`.
const MATHS: &str = "\
    sqrt rsqrt cbrt exp exp2 exp10 expm1 log log2 log10 log1p sin cos tan sinpi cospi asin acos \
    atan atan2 sinh cosh tanh asinh acosh atanh pow hypot erf erfc tgamma lgamma fmod remainder \
    fmin fmax fabs floor ceil trunc round rint copysign fdim ldexp fma isnan isinf isfinite \
    signbit frexp modf min max abs rcbrt normcdf erfinv erfcinv erfcx rhypot nearbyint \
    lround llrint lrint";

/// Functions that are operators.
const OPERATORS: [(&str, CBinaryOp); 4] = [
    ("__fadd __dadd __hadd __hadd2", CBinaryOp::Add),
    ("__fsub __dsub __hsub __hsub2", CBinaryOp::Sub),
    ("__fmul __dmul __hmul __hmul2", CBinaryOp::Mul),
    ("__fdiv __ddiv __hdiv __h2div", CBinaryOp::Div),
];

/// Functions of truth values of two numbers.
const COMPARISONS: [(&str, CBinaryOp); 6] = [
    ("__hgt", CBinaryOp::Gt),
    ("__hlt", CBinaryOp::Lt),
    ("__heq", CBinaryOp::Eq),
    ("__hge", CBinaryOp::Ge),
    ("__hle", CBinaryOp::Le),
    ("__hne", CBinaryOp::Ne),
];

/// Conversions of one number, by the types in their names.
const CONVERSIONS: &str = "\
    __float2int __float2uint __float2ll __float2ull __double2int __double2uint __double2ll \
    __double2ull __int2float __uint2float __ll2float __ull2float __int2double __uint2double \
    __ll2double __ull2double __double2float __float2half __half2float __half22float2 \
    __float22half2 __int2half __uint2half __short2half __half2int __half2uint __half2short \
    __double2half __float2bfloat16 __bfloat162float __float22bfloat162 \
    __bfloat1622float2";

/// Vectors of two out of one number, or of two.
const PAIRS: &str = "\
    __float2half2 __half2half2 __float2bfloat162 __bfloat162bfloat162 __floats2half2 make_half2 \
    __halves2half2 __floats2bfloat162 __halves2bfloat162 make_bfloat162";

/// Loads and stores with a hint for caches.
const LOADS: &str = "__ldg __ldcs __ldca __ldcg __ldcv __ldlu";
const STORES: &str = "__stcs __stcg __stwb __stwt";

/// Functions of warps whose first argument is a mask, and those of sub-groups.
const WARPS: &str = "\
    __shfl_sync=shuffle __shfl_up_sync=shuffle_up __shfl_down_sync=shuffle_down \
    __shfl_xor_sync=shuffle_xor __ballot_sync=ballot __all_sync=all __any_sync=any \
    __match_any_sync=ballot __reduce_add_sync=reduce_add __reduce_max_sync=reduce_max \
    __reduce_min_sync=reduce_min";
/// Older ones without a mask.
const OLDER_WARPS: &str = "\
    __shfl=shuffle __shfl_up=shuffle_up __shfl_down=shuffle_down __shfl_xor=shuffle_xor \
    __ballot=ballot __all=all __any=any";

/// Barriers of a group that also bring a number.
const VOTING_BARRIERS: &str = "__syncthreads_or=any __syncthreads_and=all \
    __syncthreads_count=reduce_add";

/// What is refused, by how names begin, and what it is.
const REFUSED: [(&str, &str); 9] = [
    ("sincospi", "a function with two results"),
    ("texCubemap", "a cube of textures"),
    ("tex2Dgather", "a gathering load of a texture"),
    ("curand", "a generator of random numbers"),
    ("hiprand", "a generator of random numbers"),
    ("__nv_", "a function of the vendor's library"),
    ("__trap", "a trap"),
    ("malloc", "memory that the device allocates"),
    ("free", "memory that the device allocates"),
];

/// Flags of a barrier that orders local and global memory.
const BARRIER_FLAGS: i64 = 3;

/// The second name of `first=second` in a list.
pub(super) fn renamed(names: &'static str, name: &str) -> Option<&'static str> {
    let pairs = names.split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.into_iter().find(|(known, _)| *known == name).map(|(_, other)| other)
}

/// A name without how the function rounds, which changes neither steps nor prices.
fn unrounded(name: &str) -> &str {
    let rounded = ["_rn", "_rz", "_rd", "_ru"].iter().find_map(|way| name.strip_suffix(way));
    rounded.filter(|name| name.starts_with("__")).unwrap_or(name)
}

/// `atomic_add` for `atomicAdd`, also of a block or of the system.
fn atomic(name: &str) -> Option<String> {
    let plain = name.strip_prefix("atomic")?;
    let plain = plain.strip_suffix("_block").or(plain.strip_suffix("_system")).unwrap_or(plain);
    Some(match plain {
        "Exch" => "atomic_xchg".to_owned(),
        "CAS" => "atomic_cmpxchg".to_owned(),
        _ => format!("atomic_{}", plain.to_lowercase()),
    })
}

/// The pointer that an address is counted from, if that is a variable.
fn array_of(e: &CExpr) -> Option<VariableId> {
    match &e.kind {
        ExprKind::Variable(id, _) => Some(*id),
        ExprKind::Unary(UnaryOp::Address, inner) | ExprKind::Cast(inner) => array_of(inner),
        ExprKind::Binary(CBinaryOp::Add | CBinaryOp::Sub, base, _) | ExprKind::Index(base, _) => {
            array_of(base)
        }
        _ => None,
    }
}

fn is_real(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(ScalarType::Real { .. }) | Type::Vector(ScalarType::Real { .. }, _))
}

impl<'tu> Tree<'_, 'tu> {
    /// An expression of another kind in place of one that has been read.
    pub(super) fn with_kind(&mut self, entity: &Entity<'tu>, kind: ExprKind, ty: Type) -> CExpr {
        CExpr { kind, ty, at: self.at(entity) }
    }

    /// A call of a function of OpenCL C, with the type of the cursor.
    pub(super) fn plain_call(
        &mut self,
        entity: &Entity<'tu>,
        name: &str,
        arguments: Vec<CExpr>,
    ) -> CExpr {
        self.expr(entity, ExprKind::Call(name.to_owned(), arguments))
    }

    /// A call of a function of the vendor.
    pub(super) fn vendors_function(
        &mut self,
        entity: &Entity<'tu>,
        name: &str,
        mut arguments: Vec<CExpr>,
    ) -> CExpr {
        let name = unrounded(name);
        if let Some((_, what)) = REFUSED.iter().find(|(start, _)| name.starts_with(start)) {
            return self.unread(entity, *what);
        }
        if name.starts_with("tex") || name.starts_with("surf") {
            return self.texel_access(entity, name, arguments);
        }
        if lists("sincos sincosf __sincosf", name) {
            return self.sine_and_cosine(entity, name, &arguments);
        }
        if let Some(what) = renamed(WARPS, name) {
            arguments.remove(0);
            return self.warp_function(entity, what, arguments);
        }
        if let Some(what) = renamed(OLDER_WARPS, name) {
            return self.warp_function(entity, what, arguments);
        }
        if let Some(what) = renamed(VOTING_BARRIERS, name) {
            return self.plain_call(entity, &format!("work_group_{what}"), arguments);
        }
        if name == "__syncthreads" {
            return self.barrier(entity);
        }
        if let Some(name) = atomic(name) {
            return self.plain_call(entity, &name, arguments);
        }
        if let Some(kind) = self.as_operator(entity, name, &arguments) {
            return kind;
        }
        let plain = name.strip_suffix('f').filter(|plain| lists(MATHS, plain)).unwrap_or(name);
        let real = arguments.first().is_some_and(|argument| is_real(&argument.ty));
        match plain {
            "abs" | "min" | "max" if real => {
                self.plain_call(entity, &format!("f{plain}"), arguments)
            }
            _ if lists(MATHS, plain) && renamed(SAME, plain).is_none() => {
                self.plain_call(entity, plain, arguments)
            }
            _ => match renamed(SAME, plain).or_else(|| renamed(SAME, name)) {
                Some(same) => self.plain_call(entity, same, arguments),
                None => self.plain_call(entity, name, arguments),
            },
        }
    }

    /// The image that a texture or surface object is: of as many dimensions as any of the source.
    pub(super) fn texture_type(&self) -> &'static str {
        let has = |name: &str| {
            ["tex", "surf"].iter().any(|of| self.text.0.contains(&format!("{of}{name}")))
        };
        match (has("3D"), has("2DLayered"), has("2D")) {
            (true, ..) => "image3d_t",
            (_, true, _) => "image2d_array_t",
            (_, _, true) => "image2d_t",
            _ => "image1d_t",
        }
    }

    fn texel_access(&mut self, entity: &Entity<'tu>, name: &str, arguments: Vec<CExpr>) -> CExpr {
        match name.starts_with("tex") {
            true => self.texture_load(entity, name, arguments),
            false => self.surface_access(entity, name, arguments),
        }
    }

    /// `tex2D<float>(texture, x, y)` as the load of a texel of an image; what is loaded has as many
    /// components as the type that is named.
    fn texture_load(
        &mut self,
        entity: &Entity<'tu>,
        name: &str,
        mut arguments: Vec<CExpr>,
    ) -> CExpr {
        let is_object = |first: &CExpr| matches!(first.ty, Type::Other(_));
        if !arguments.first().is_some_and(is_object) {
            return self.unread(entity, "a texture that is no object");
        }
        let texture = arguments.remove(0);
        let coordinates = self.coordinates(entity, name, arguments, ScalarType::Real { bytes: 4 });
        self.plain_call(entity, "read_imagef", vec![texture, coordinates])
    }

    /// `surf2Dread<float>(surface, x * sizeof(float), y)` and `surf2Dwrite(value, surface, ..)`: an
    /// access of a texel of an image, whose place in its row is counted in bytes.
    fn surface_access(
        &mut self,
        entity: &Entity<'tu>,
        name: &str,
        mut arguments: Vec<CExpr>,
    ) -> CExpr {
        let value = name.ends_with("write").then(|| arguments.remove(0));
        let ty = value.as_ref().map_or_else(|| self.expression_type(entity), |v| v.ty.clone());
        let (true, Some(bytes)) = (arguments.len() > 1, crate::ast::bytes(&ty)) else {
            return self.unread(entity, "a surface that is no object");
        };
        let surface = arguments.remove(0);
        if !matches!(surface.ty, Type::Other(_)) {
            return self.unread(entity, "a surface that is no object");
        }
        let by = Box::new(self.with_kind(entity, ExprKind::Int(bytes), INT));
        let x = ExprKind::Binary(CBinaryOp::Div, Box::new(arguments.remove(0)), by);
        arguments.insert(0, self.with_kind(entity, x, INT));
        let int = ScalarType::Int { bytes: 4, signed: true };
        let coordinates = self.coordinates(entity, name, arguments, int);
        let what = if value.is_some() { "write_imagef" } else { "read_imagef" };
        let all = [surface, coordinates].into_iter().chain(value).collect();
        self.plain_call(entity, what, all)
    }

    /// Coordinates of a texel, as many as the name of the function states.
    fn coordinates(
        &mut self,
        entity: &Entity<'tu>,
        name: &str,
        mut arguments: Vec<CExpr>,
        of: ScalarType,
    ) -> CExpr {
        let dimensions = name.bytes().find_map(|c| (b'1'..=b'3').contains(&c).then(|| c - b'0'));
        let layered = usize::from(name.contains("Layered"));
        // Levels and gradients stand behind the coordinates.
        arguments.truncate(usize::from(dimensions.unwrap_or(1)) + layered);
        match <[CExpr; 1]>::try_from(arguments) {
            Ok([one]) => one,
            Err(several) => {
                let ty = Type::Vector(of, if several.len() == 2 { 2 } else { 4 });
                self.with_kind(entity, ExprKind::List(several), ty)
            }
        }
    }

    /// `sincosf(x, &s, &c)` as `s = x, c = cos(s), s = sin(s)`, so that x is evaluated once; an x
    /// that is simple stays where it is.
    fn sine_and_cosine(&mut self, entity: &Entity<'tu>, name: &str, arguments: &[CExpr]) -> CExpr {
        let [x, sine, cosine] = arguments else { return self.unread(entity, "a call") };
        let start = if name.starts_with("__") { "native_" } else { "" };
        let places = [sine, cosine].map(|to| self.dereferenced(to.clone(), entity));
        let [Some(sine), Some(cosine)] = places else {
            return self.unread(entity, "a function with two results");
        };
        let mut results = [(sine, "sin"), (cosine, "cos")];
        let kept = is_simple(x) || matches!(x.kind, ExprKind::Int(_) | ExprKind::Real(_));
        // The result that keeps x is the last to be computed.
        if is_simple(&results[0].0) {
            results.reverse();
        }
        let mut assigned = |place: &CExpr, value: CExpr| {
            let kind = ExprKind::Assign(None, Box::new(place.clone()), Box::new(value));
            self.with_kind(entity, kind, place.ty.clone())
        };
        let last = results[1].0.clone();
        if !kept && !is_simple(&last) {
            return self.unread(entity, "a function with two results in memory");
        }
        let angle = if kept { x } else { &last };
        let mut all = Vec::new();
        if !kept {
            all.push(assigned(&last, x.clone()));
        }
        for (place, function) in &results {
            let call = ExprKind::Call(format!("{start}{function}"), vec![angle.clone()]);
            all.push(assigned(place, CExpr { kind: call, ..place.clone() }));
        }
        self.sequence(entity, all)
    }

    pub(super) fn sequence(&mut self, at: &Entity<'tu>, all: Vec<CExpr>) -> CExpr {
        let mut all = all.into_iter();
        let Some(first) = all.next() else { return self.with_kind(at, ExprKind::Int(0), INT) };
        all.fold(first, |before, next| {
            let ty = next.ty.clone();
            let both = ExprKind::Binary(CBinaryOp::Comma, Box::new(before), Box::new(next));
            self.with_kind(at, both, ty)
        })
    }

    pub(super) fn barrier(&mut self, entity: &Entity<'tu>) -> CExpr {
        let flags = self.with_kind(entity, ExprKind::Int(BARRIER_FLAGS), INT);
        self.plain_call(entity, "barrier", vec![flags])
    }

    /// A function of a warp: a shuffle's width changes what is brought and not its price.
    pub(super) fn warp_function(
        &mut self,
        entity: &Entity<'tu>,
        what: &str,
        mut arguments: Vec<CExpr>,
    ) -> CExpr {
        arguments.truncate(if what.starts_with("shuffle") { 2 } else { 1 });
        self.plain_call(entity, &format!("sub_group_{what}"), arguments)
    }

    /// A function that is an operator, a conversion, a load or a store.
    fn as_operator(
        &mut self,
        entity: &Entity<'tu>,
        name: &str,
        arguments: &[CExpr],
    ) -> Option<CExpr> {
        let first = || arguments.first().cloned();
        let both = || Some((Box::new(first()?), Box::new(arguments.get(1)?.clone())));
        let operators = OPERATORS.iter().chain(&COMPARISONS);
        let kind = if let Some((_, op)) = operators.into_iter().find(|(all, _)| lists(all, name)) {
            let (a, b) = both()?;
            ExprKind::Binary(*op, a, b)
        } else if lists("__hneg __hneg2", name) {
            ExprKind::Unary(UnaryOp::Minus, Box::new(first()?))
        } else if lists(CONVERSIONS, name) {
            ExprKind::Cast(Box::new(first()?))
        } else if lists("move forward", name) {
            return first();
        } else if lists(PAIRS, name) || name.starts_with("make_") {
            ExprKind::List(arguments.to_vec())
        } else if let Some(part) = name.strip_prefix("__low2").or(name.strip_prefix("__high2")) {
            let member = if name.starts_with("__low") { "x" } else { "y" };
            let member = ExprKind::Member {
                base: Box::new(first()?),
                member: member.to_owned(),
                arrow: false,
            };
            let half = Type::Scalar(ScalarType::Real { bytes: 2 });
            match part {
                "float" => ExprKind::Cast(Box::new(self.with_kind(entity, member, half))),
                _ => member,
            }
        } else if lists(LOADS, name) {
            if name == "__ldg" {
                self.cuda.read_only.extend(arguments.first().and_then(array_of));
            }
            return self.dereferenced(first()?, entity);
        } else if lists(STORES, name) {
            let (pointer, value) = both()?;
            let place = Box::new(self.dereferenced(*pointer, entity)?);
            return Some(CExpr {
                ty: place.ty.clone(),
                kind: ExprKind::Assign(None, place, value),
                at: self.at(entity),
            });
        } else {
            return None;
        };
        Some(self.expr(entity, kind))
    }

    pub(super) fn dereferenced(&mut self, pointer: CExpr, at: &Entity<'tu>) -> Option<CExpr> {
        if let ExprKind::Unary(UnaryOp::Address, place) = pointer.kind {
            return Some(*place);
        }
        let ty = pointer.ty.element()?.clone();
        Some(self.with_kind(at, ExprKind::Unary(UnaryOp::Deref, Box::new(pointer)), ty))
    }
}
