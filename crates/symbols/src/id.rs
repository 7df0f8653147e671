//! `DebugId`, the key that joins a frame and an uploaded file, and `Arch`, the architecture of a slice.

use std::fmt;

/// A debug id in canonical form: 1 to 64 lower-case hex digits without dashes.
///
/// Mach-O UUIDs and JavaScript debug ids have 32 digits, ELF build ids usually 32 or 40, R8 map ids 7 or 64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DebugId {
    digits: [u8; 64],
    len: u8,
}

impl DebugId {
    /// Parses hex digits of any case and ignores dashes. `None` for an empty or too long id and for other characters.
    pub fn parse(text: &str) -> Option<Self> {
        let mut id = Self { digits: [0; 64], len: 0 };
        for byte in text.trim().bytes().filter(|b| *b != b'-') {
            if !byte.is_ascii_hexdigit() || id.len == 64 {
                return None;
            }
            id.digits[id.len as usize] = byte.to_ascii_lowercase();
            id.len += 1;
        }
        (id.len > 0).then_some(id)
    }

    /// The id of raw bytes, as in `LC_UUID` and `.note.gnu.build-id`. `None` when empty or longer than 32 bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() || bytes.len() > 32 {
            return None;
        }
        let mut id = Self { digits: [0; 64], len: bytes.len() as u8 * 2 };
        for (pair, byte) in id.digits.chunks_exact_mut(2).zip(bytes) {
            pair[0] = b"0123456789abcdef"[(byte >> 4) as usize];
            pair[1] = b"0123456789abcdef"[(byte & 15) as usize];
        }
        Some(id)
    }

    /// The canonical digits.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.digits[..self.len as usize]).expect("only hex digits are stored")
    }

    /// Whether all digits are zero. Such an id identifies nothing: an address in no image, a linker without build ids.
    pub fn is_zero(&self) -> bool {
        self.as_str().bytes().all(|b| b == b'0')
    }

    pub(crate) fn to_field(self) -> ([u8; 64], u8) {
        (self.digits, self.len)
    }
}

impl fmt::Display for DebugId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for DebugId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DebugId({self})")
    }
}

/// A processor architecture, named as clients print it (as the Dart VM does).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Arch {
    /// Unknown or irrelevant (R8, JavaScript).
    Unknown = 0,
    /// 64-bit ARM.
    Arm64 = 1,
    /// 64-bit ARM with pointer authentication; its devices print `arm64`.
    Arm64e = 2,
    /// x86-64.
    X64 = 3,
    /// 32-bit ARM.
    Arm = 4,
    /// 32-bit x86.
    Ia32 = 5,
    /// 64-bit RISC-V.
    Riscv64 = 6,
}

impl Arch {
    /// Parses the names of clients, LLVM and uname.
    pub fn parse(token: &str) -> Option<Self> {
        Some(match token.trim().to_ascii_lowercase().as_str() {
            "arm64" | "aarch64" | "arm64-v8a" => Self::Arm64,
            "arm64e" => Self::Arm64e,
            "x64" | "x86_64" | "amd64" => Self::X64,
            "arm" | "armv7" | "armv7s" | "armeabi-v7a" | "armv6" => Self::Arm,
            "ia32" | "i386" | "x86" | "i686" => Self::Ia32,
            "riscv64" => Self::Riscv64,
            _ => return None,
        })
    }

    /// The name used in keys and by the clients.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "any",
            Self::Arm64 => "arm64",
            Self::Arm64e => "arm64e",
            Self::X64 => "x64",
            Self::Arm => "arm",
            Self::Ia32 => "ia32",
            Self::Riscv64 => "riscv64",
        }
    }

    pub(crate) fn from_code(code: u32) -> Self {
        [Self::Unknown, Self::Arm64, Self::Arm64e, Self::X64, Self::Arm, Self::Ia32, Self::Riscv64]
            .into_iter()
            .find(|a| *a as u32 == code)
            .unwrap_or(Self::Unknown)
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(DebugId::parse(text).map(|id| id.to_string()).as_deref(), expected);
    }

    #[test]
    fn ids_have_one_canonical_form() {
        check("4C4C44DD-5555-3144-A1E2-9109D2CD8082", Some("4c4c44dd55553144a1e29109d2cd8082"));
        check(" 21be3e9 ", Some("21be3e9"));
        check("../../x", None);
        check("", None);
        check(&"a".repeat(65), None);
    }

    #[test]
    fn bytes_and_text_agree() {
        assert_eq!(DebugId::from_bytes(&[0xab, 0x01]), DebugId::parse("AB01"));
        assert!(DebugId::from_bytes(&[0; 16]).is_some_and(|id| id.is_zero()));
        assert_eq!(DebugId::from_bytes(&[0; 33]), None);
    }

    #[test]
    fn architectures_have_many_names() {
        for (token, arch) in [("x64", Arch::X64), ("x86_64", Arch::X64), ("i386", Arch::Ia32), ("ARM64", Arch::Arm64)] {
            assert_eq!(Arch::parse(token), Some(arch));
            assert_eq!(Arch::from_code(arch as u32), arch);
        }
        assert_eq!(Arch::parse("mips"), None);
    }
}
