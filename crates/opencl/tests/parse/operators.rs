//! Operators and literals: each as it is written, with the nesting that C gives it.

use crate::parse::tree::{body, ready};

/// Statements and what they are read as.
fn table(rows: &[(&str, &str)]) {
    if !ready() {
        return;
    }
    let source: Vec<&str> = rows.iter().map(|(source, _)| *source).collect();
    let read = body(&source.join("\n"));
    let expected: Vec<&str> = rows.iter().map(|(_, read)| *read).collect();
    assert_eq!(read, expected.join("\n"));
}

#[test]
fn unary() {
    table(&[
        ("a = +b;", "(a = (+b));"),
        ("a = -b;", "(a = (-b));"),
        ("a = !b;", "(a = (!b));"),
        ("a = ~b;", "(a = (~b));"),
        ("a = *p;", "(a = (*p));"),
        ("p = &p[1];", "(p = (&p[1]));"),
        ("++a;", "(++a);"),
        ("--a;", "(--a);"),
        ("a++;", "(a++);"),
        ("a--;", "(a--);"),
        ("a = - -b;", "(a = (-(-b)));"),
        ("a = -(-(b));", "(a = (-(-b)));"),
        ("a = *&b;", "(a = (*(&b)));"),
        ("a = !~-+b;", "(a = (!(~(-(+b)))));"),
        ("(*p)++;", "((*p)++);"),
        ("*p++ = a;", "((*(p++)) = a);"),
        ("(a)++;", "(a++);"),
        ("a = (b) ++ ;", "(a = (b++));"),
        ("v = -v;", "(v = (-v));"),
    ]);
}

#[test]
fn binary() {
    table(&[
        ("a = b + c;", "(a = (b + c));"),
        ("a = b - c;", "(a = (b - c));"),
        ("a = b * c;", "(a = (b * c));"),
        ("a = b / c;", "(a = (b / c));"),
        ("a = b % c;", "(a = (b % c));"),
        ("a = b << c;", "(a = (b << c));"),
        ("a = b >> c;", "(a = (b >> c));"),
        ("a = b & c;", "(a = (b & c));"),
        ("a = b | c;", "(a = (b | c));"),
        ("a = b ^ c;", "(a = (b ^ c));"),
        ("a = b && c;", "(a = (b && c));"),
        ("a = b || c;", "(a = (b || c));"),
        ("a = b == c;", "(a = (b == c));"),
        ("a = b != c;", "(a = (b != c));"),
        ("a = b < c;", "(a = (b < c));"),
        ("a = b <= c;", "(a = (b <= c));"),
        ("a = b > c;", "(a = (b > c));"),
        ("a = b >= c;", "(a = (b >= c));"),
        ("a = (b , c);", "(a = (b , c));"),
    ]);
}

#[test]
fn assignments() {
    table(&[
        ("a += b;", "(a += b);"),
        ("a -= b;", "(a -= b);"),
        ("a *= b;", "(a *= b);"),
        ("a /= b;", "(a /= b);"),
        ("a %= b;", "(a %= b);"),
        ("a <<= b;", "(a <<= b);"),
        ("a >>= b;", "(a >>= b);"),
        ("a &= b;", "(a &= b);"),
        ("a |= b;", "(a |= b);"),
        ("a ^= b;", "(a ^= b);"),
        ("a = b = c;", "(a = (b = c));"),
        ("a += b -= c;", "(a += (b -= c));"),
    ]);
}

#[test]
fn precedence() {
    table(&[
        ("a = a + b * c;", "(a = (a + (b * c)));"),
        ("a = (a + b) * c;", "(a = ((a + b) * c));"),
        ("a = a - b - c;", "(a = ((a - b) - c));"),
        ("a = a - (b - c);", "(a = (a - (b - c)));"),
        ("a = a & b == c;", "(a = (a & (b == c)));"),
        ("a = a || b && c;", "(a = (a || (b && c)));"),
        ("a = a << 1 + b;", "(a = (a << (1 + b)));"),
        ("a = a ? b : c ? 1 : 2;", "(a = (a ? b : (c ? 1 : 2)));"),
        ("a = (a ? b : c) ? 1 : 2;", "(a = ((a ? b : c) ? 1 : 2));"),
        ("a = (((a)));", "(a = a);"),
        ("a = b, c;", "((a = b) , c);"),
        ("a = (int) b + c;", "(a = ((b as int) + c));"),
        ("a = (int) (b + c);", "(a = ((b + c) as int));"),
        ("a = -b * c;", "(a = ((-b) * c));"),
    ]);
}

#[test]
fn odd_spellings() {
    table(&[
        ("a = a+++b;", "(a = ((a++) + b));"),
        ("a = a---b;", "(a = ((a--) - b));"),
        ("a = a-- - --b;", "(a = ((a--) - (--b)));"),
        ("a = b<-1;", "(a = (b < (-1)));"),
        ("a = b<<-c>>+1;", "(a = ((b << (-c)) >> (+1)));"),
        ("a = b*-*p;", "(a = (b * (-(*p))));"),
        ("a = b&&*p;", "(a = (b && (*p)));"),
        ("a = b& &p[1]==p;", "(a = (b & ((&p[1]) == p)));"),
        ("a = b/*+*/-/*;*/c; // a * b", "(a = (b - c));"),
        ("a =\n b\n\n + // plus\n c;", "(a = (b + c));"),
        ("a = b \\\n - c;", "(a = (b - c));"),
        ("a = ( b ) - ( c ) ;", "(a = (b - c));"),
        ("a = 'a' + '\\'' - ')';", "(a = ((97 + 39) - 41));"),
        ("a = 1 [p];", "(a = p[1]);"),
        ("a = b ?c:a;", "(a = (b ? c : a));"),
        ("while (a --> 0) ;", "while ((a--) > 0) {;}"),
        ("v = (float4)(1.0f) * v;", "(v = (float4{1.0f} * v));"),
        ("v . x = v . w ;", "(v.x = v.w);"),
    ]);
}

#[test]
fn literals() {
    table(&[
        ("a = 0xff;", "(a = 255);"),
        ("a = 017;", "(a = 15);"),
        ("a = 0b11;", "(a = 3);"),
        ("a = -1;", "(a = (-1));"),
        ("a = -2147483648;", "(a = (-2147483648));"),
        ("a = 0xffffffff;", "(a = 4294967295);"),
        ("a = 4294967295U;", "(a = 4294967295);"),
        ("a = 1ul << 40;", "(a = (1 << 40));"),
        ("a = 0xffffffffffffffffUL;", "(a = -1);"),
        ("a = 'a' + '\\n' + '\\0' + '\\x41';", "(a = (((97 + 10) + 0) + 65));"),
        ("a = true + false;", "(a = (1 + 0));"),
        ("v = 1.0f + .5f + 1e-3f + 0x1.8p1f;", "(v = (((1.0f + .5f) + 1e-3f) + 0x1.8p1f));"),
        ("a = INT_MAX + INT_MIN;", "(a = (2147483647 + ((-2147483647) - 1)));"),
        (
            "v = INFINITY + NAN + FLT_MAX;",
            "(v = ((INFINITY + as_float(2147483647)) + 0x1.fffffep127f));",
        ),
        ("p = NULL;", "(p = (0 as *private void));"),
    ]);
}

#[test]
fn vectors() {
    table(&[
        ("v = (float4)(1.0f, 2.0f, (float2)(a, b));", "(v = float4{1.0f, 2.0f, float2{a, b}});"),
        ("v = (float4)(a);", "(v = float4{a});"),
        ("v = (float4)(v);", "(v = (v as float4));"),
        ("v = 1;", "(v = 1);"),
        ("v.x = v.s1 + v.y;", "(v.x = (v.s1 + v.y));"),
        ("v.lo = v.odd + v.xy.yx;", "(v.lo = (v.odd + v.xy.yx));"),
        ("(&v)->hi = v.even;", "((&v)->hi = v.even);"),
        ("v.xyzw = (float4)(v.lo, 0, 0) . wzyx;", "(v.xyzw = float4{v.lo, 0, 0}.wzyx);"),
        ("v = convert_float4(as_int4(v));", "(v = convert_float4(as_int4(v)));"),
        ("a = any(v < 1.0f);", "(a = any((v < 1.0f)));"),
        (
            "vstore4(vload4(a, (global float *) p), 0, (global float *) p);",
            "vstore4(vload4(a, (p as *global float)), 0, (p as *global float));",
        ),
        ("v = a ? v : (float4)(0);", "(v = (a ? v : float4{0}));"),
    ]);
}

#[test]
fn sizes() {
    table(&[
        ("a = sizeof(int);", "(a = sizeof:4);"),
        ("a = sizeof(unsigned long);", "(a = sizeof:8);"),
        ("a = sizeof(unsigned char);", "(a = sizeof:1);"),
        (
            "a = sizeof(float3) + sizeof(double2) + sizeof(uchar16);",
            "(a = ((sizeof:16 + sizeof:16) + sizeof:16));",
        ),
        ("a = sizeof a + sizeof(*p) + sizeof v.lo;", "(a = ((sizeof:4 + sizeof:4) + sizeof:8));"),
        ("a = sizeof(p) + sizeof(global int *);", "(a = (sizeof:8 + sizeof:8));"),
        ("a = sizeof(float[TS][2]);", "(a = ($TS * sizeof:8));"),
        ("a = sizeof(global int *[3]);", "(a = sizeof:24);"),
        ("a = sizeof(int (*)[3]);", "(a = sizeof:8);"),
    ]);
}
