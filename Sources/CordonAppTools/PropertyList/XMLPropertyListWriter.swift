import Foundation

/// Writes values in the layout of Apple's tools: tabs, one element a line, keys in the order given.
struct XMLPropertyListWriter {
    /// One step of indentation.
    var unit = "\t"
    /// What ends a line.
    var lineEnd = "\n"

    /// A whole document.
    func document(_ value: PropertyListValue) -> Data {
        let lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" "
                + "\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">",
            "<plist version=\"1.0\">", element(value, indent: ""), "</plist>", "",
        ]
        return Data(lines.joined(separator: lineEnd).utf8)
    }

    /// One element whose first line is not indented and whose further lines are.
    func element(_ value: PropertyListValue, indent: String) -> String {
        switch value {
        case .string(let text): "<string>\(PropertyListText.escaped(text, lineEnd: lineEnd))</string>"
        case .integer(let number): "<integer>\(number)</integer>"
        case .real(let number): "<real>\(PropertyListText.real(number))</real>"
        case .boolean(let truth): truth ? "<true/>" : "<false/>"
        case .date(let date): "<date>\(PropertyListText.text(date))</date>"
        case .data(let data): lines(of: data, indent: indent)
        case .array(let values) where values.isEmpty: "<array/>"
        case .array(let values): wrapped("array", values.map { element($0, indent: indent + unit) }, indent)
        case .dictionary(let dictionary) where dictionary.entries.isEmpty: "<dict/>"
        case .dictionary(let dictionary):
            wrapped("dict", dictionary.entries.map { entry($0.key, $0.value, indent: indent + unit) }, indent)
        }
    }

    /// A key and its value on the next line.
    func entry(_ key: String, _ value: PropertyListValue, indent: String) -> String {
        let name = PropertyListText.escaped(key, lineEnd: lineEnd)
        return "<key>\(name)</key>\(lineEnd)\(indent)\(element(value, indent: indent))"
    }

    private func wrapped(_ name: String, _ children: [String], _ indent: String) -> String {
        let body = children.map { indent + unit + $0 + lineEnd }.joined()
        return "<\(name)>\(lineEnd)\(body)\(indent)</\(name)>"
    }

    private func lines(of data: Data, indent: String) -> String {
        let columns = indent.reduce(0) { $0 + ($1 == "\t" ? 8 : 1) }
        let width = max(16, 76 - columns) / 4 * 4
        var text = Substring(data.base64EncodedString())
        var result = "<data>" + lineEnd
        while !text.isEmpty {
            result += indent + text.prefix(width) + lineEnd
            text = text.dropFirst(width)
        }
        return result + indent + "</data>"
    }
}
