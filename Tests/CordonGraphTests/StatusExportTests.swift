import Testing

@testable import CordonGraph
@testable import CordonServiceHTTP

/// The export reports as CSV (RFC 4180).
@Suite struct StatusExportTests {
    /// A reader that knows bytes, as spreadsheets do.
    private func cells(_ line: String) -> [String] {
        var cells: [[UInt8]] = [[]]
        var isQuoted = false
        for byte in line.utf8 {
            switch byte {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted: cells.append([])
            default: cells[cells.count - 1].append(byte)
            }
        }
        return cells.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [",\u{301}x", "\"\u{301},a", "a\"\u{20E3},\"", "plain", "a,b"])
    func `no name of a device moves the cells of its row`(name: String) {
        let columns = StatusExport.protection.columns
        let row = Dictionary(uniqueKeysWithValues: columns.map { ($0, $0 == "DeviceName" ? name : "x") })
        let line = StatusExport.csv([row], columns: columns).split(separator: "\r\n")[0]
        let read = cells(String(line))
        #expect(read.count == 21 && read.last == "x")
        #expect(read[6].unicodeScalars.elementsEqual(name.unicodeScalars.filter { $0 != "\"" }))
    }

    @Test(arguments: ["=\u{301}1+1", "=1", "+1", "-1", "@a", "\tx"])
    func `no name becomes a formula`(name: String) {
        #expect(StatusExport.csv([["A": name]], columns: ["A"]).unicodeScalars.first == "'")
    }
}
