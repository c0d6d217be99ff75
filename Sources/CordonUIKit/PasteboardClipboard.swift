#if canImport(UIKit)
    public import Cordon
    internal import CordonScreens
    internal import Foundation
    public import UIKit

    /// The system's pasteboard as a ``Clipboard``: text for every app is plain, an organisation's is sealed for its own apps.
    ///
    /// Sealed text stays on this device and leaves the pasteboard after a time. If another app wrote the text, reading it shows the person the
    /// system's notice.
    public struct PasteboardClipboard: Clipboard {
        private let lifetime: Duration
        private let board: @MainActor @Sendable () -> UIPasteboard

        /// Names a pasteboard.
        ///
        /// - Parameters:
        ///   - lifetime: How long sealed text stays on it.
        ///   - board: Which; the general one unless an app has another.
        public init(
            lifetime: Duration = .seconds(600),
            _ board: @escaping @MainActor @Sendable () -> UIPasteboard = { .general }
        ) {
            self.lifetime = lifetime
            self.board = board
        }

        /// Replaces what is on the pasteboard.
        public func write(_ item: ClipboardItem) async throws {
            let representations = PasteboardCodec.representations(of: item)
            let isLocal = PasteboardCodec.isLocalOnly(item)
            let ends = Date(timeIntervalSinceNow: lifetime / .seconds(1))
            await MainActor.run {
                var options: [UIPasteboard.OptionsKey: Any] = [.localOnly: isLocal]
                if isLocal { options[.expirationDate] = ends }
                board().setItems([representations], options: options)
            }
        }

        /// What is on the pasteboard; nil when it holds no text.
        public func read() async throws -> ClipboardItem? {
            let types = [PasteboardCodec.sealedType, PasteboardCodec.ownerType, PasteboardCodec.textType]
            let found = await MainActor.run {
                let board = board()
                return types.reduce(into: [String: Data]()) { $0[$1] = board.data(forPasteboardType: $1) }
            }
            return PasteboardCodec.item(from: found)
        }
    }
#endif
