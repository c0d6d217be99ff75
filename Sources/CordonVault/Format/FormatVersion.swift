/// The versions of headers and account key records that this code reads (`docs/vault-format.md`).
///
/// New files and keys are written as version 2. Databases and wipe notes are still version 1: nothing that version 2 adds concerns
/// them. Protected buffers count by themselves.
enum FormatVersion: UInt16 {
    case one = 1
    case two = 2
}
