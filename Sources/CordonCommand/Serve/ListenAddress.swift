/// A host and a port to listen on, as `HOST:PORT` or `[IPv6]:PORT`.
struct ListenAddress: Equatable {
    /// The host, IPv6 without brackets.
    let host: String
    /// The port; 0 lets the system choose.
    let port: Int

    init(_ text: String) throws(CommandFailure) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port), colon != text.startIndex, !text.contains("@")
        else {
            throw CommandFailure(
                .usage, "\(ShownAddress.quoted(text)) is not an address to listen on",
                hint: "use HOST:PORT, such as 127.0.0.1:8080")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        self.host = host
        self.port = port
    }
}
