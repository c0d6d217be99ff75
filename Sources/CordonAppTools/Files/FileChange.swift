public import Foundation

/// A file to be replaced or created, planned before anything is written (TL-GN-04).
public struct FileChange: Sendable {
    /// The file; a symbolic link is resolved before writing.
    public let url: URL
    /// What the write may not leave; nil for a file that a person named.
    public let boundary: WriteBoundary?
    /// The new content in pieces, so that large unchanged parts stay memory-mapped.
    public let pieces: [Data]

    /// Plans to write these pieces, in order, as the whole content.
    public init(_ url: URL, pieces: [Data], inside boundary: WriteBoundary? = nil) {
        self.url = url
        self.pieces = pieces
        self.boundary = boundary
    }

    /// Plans to write this content.
    public init(_ url: URL, _ content: Data, inside boundary: WriteBoundary? = nil) {
        self.init(url, pieces: [content], inside: boundary)
    }

    /// The place that is written.
    /// - Throws: ``AppToolsError`` `refused` when a link leads out of the boundary, or nowhere.
    func target() throws(AppToolsError) -> URL {
        guard let boundary else { return try WriteBoundary.target(of: url) }
        return try boundary.resolved(url)
    }

    /// Whether the file already has exactly this content; writing is then skipped, and its times stay (TL-GN-05).
    public var isInPlace: Bool {
        guard let present = try? Data(contentsOf: url.resolvingSymlinksInPath(), options: .alwaysMapped),
            present.count == pieces.reduce(0, { $0 + $1.count })
        else { return false }
        var position = present.startIndex
        for piece in pieces {
            guard present[position..<position + piece.count] == piece else { return false }
            position += piece.count
        }
        return true
    }
}
