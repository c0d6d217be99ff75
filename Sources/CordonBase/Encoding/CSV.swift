/// Lines of cells as spreadsheets read them (RFC 4180).
package enum CSV {
    /// A line with its end. A cell that a spreadsheet would take for a formula is kept from being one.
    package static func line(_ cells: [String]) -> String { cells.map(cell).joined(separator: ",") + "\r\n" }

    /// Looked at by Unicode scalar: a comma or a quote with a mark on it is one character, but its byte still ends a cell.
    private static func cell(_ text: String) -> String {
        let isFormula = text.unicodeScalars.first.map { "=+-@\t\r\n".unicodeScalars.contains($0) } ?? false
        var safe = (isFormula ? "'" + text : text).unicodeScalars
        guard safe.contains(where: { ",\"\r\n".unicodeScalars.contains($0) }) else { return String(safe) }
        safe = safe.reduce(into: String.UnicodeScalarView()) { cell, scalar in
            if scalar == "\"" { cell.append(scalar) }
            cell.append(scalar)
        }
        return "\"" + String(safe) + "\""
    }
}
