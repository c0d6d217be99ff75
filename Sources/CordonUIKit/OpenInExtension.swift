#if canImport(UIKit)
    public import Cordon
    internal import CordonScreens
    public import Foundation
    public import UIKit

    /// The principal class of an action extension that takes what another app hands over: "Open in …" (SDK-SX-02, SDK-SX-03).
    ///
    /// ```swift
    /// final class OpenIn: ProtectedOpenInExtension {
    ///     override func take(_ item: SharedItem) async throws {
    ///         _ = try await protection.outlets.takeIntoFiles(item, for: account) { "received/\(UUID()) \($0)" }
    ///     }
    /// }
    /// ```
    /// Name it as `NSExtensionPrincipalClass`; `cordon activation-rule` writes the rule by which the system offers the extension. What comes from
    /// an app without Cordon arrives as an item without an owner, and ``EgressOutlets/takeIntoFiles(_:for:as:)`` asks the rules about either. It works
    /// while the account's gate is closed, as it is in an extension whose rules ask for a PIN that it does not ask for;
    /// ``EgressOutlets/take(_:for:)``, which gives out the contents, does not.
    open class ProtectedOpenInExtension: NSObject, NSExtensionRequestHandling {
        /// The type of anything that is a file.
        private static let anyFile = "public.data"

        /// Takes a thing in. To be overridden.
        ///
        /// - Throws: What says that it was not taken; the other app is told that nothing happened.
        open func take(_ item: SharedItem) async throws {
            throw ProtectionError(.outletFailed, "the extension takes nothing")
        }

        /// Reads what came, has it taken, and says to the system how it ended.
        open func beginRequest(with context: NSExtensionContext) {
            let providers = context.inputItems.compactMap { $0 as? NSExtensionItem }.flatMap { $0.attachments ?? [] }
            let request = Request(context)
            guard let provider = providers.first(where: { Self.type(of: $0) != nil }),
                let type = Self.type(of: provider)
            else { return request.finish(ProtectionError(.outletFailed, "there is nothing to take")) }
            let name = provider.suggestedName
            // The extension is the system's and is asked once; it is used by one task.
            nonisolated(unsafe) let own = self
            provider.loadDataRepresentation(forTypeIdentifier: type) { data, _ in
                guard let data, data.count <= HandOverCodec.largest,
                    let item = type == HandOverCodec.itemType
                        ? HandOverCodec.item(from: data) : HandOverCodec.item(plain: data, named: name)
                else { return request.finish(ProtectionError(.damagedContent, "this cannot be read")) }
                Task {
                    do {
                        try await own.take(item)
                        request.finish(nil)
                    } catch { request.finish(error) }
                }
            }
        }

        private static func type(of provider: NSItemProvider) -> String? {
            [HandOverCodec.itemType, anyFile].first { provider.hasItemConformingToTypeIdentifier($0) }
        }
    }

    /// One request of the system's, answered once.
    private final class Request: Sendable {
        private let once = FirstCall()
        // Used by the one caller that `once` lets through.
        nonisolated(unsafe) private let context: NSExtensionContext

        init(_ context: NSExtensionContext) { self.context = context }

        func finish(_ failure: (any Error)?) {
            guard once.isMine() else { return }
            if let failure {
                context.cancelRequest(withError: failure)
            } else {
                context.completeRequest(returningItems: [], completionHandler: nil)
            }
        }
    }

    /// The system's share sheet with one sealed thing in it, for apps that know Cordon's type: the other end is ``ProtectedOpenInExtension``.
    public struct OpenInSheet: ReceivingApp {
        private let controller: @MainActor @Sendable () -> UIViewController?

        /// Makes a sheet.
        ///
        /// - Parameter controller: What it is shown on.
        public init(on controller: @escaping @MainActor @Sendable () -> UIViewController?) {
            self.controller = controller
        }

        /// Shows the sheet and returns when an app has taken the thing.
        ///
        /// - Throws: `CancellationError` when the person cancelled, ``ProtectionError`` when nothing could be shown.
        public func deliver(_ item: SharedItem) async throws {
            let data = try HandOverCodec.data(of: item)
            guard try await Self.show(data, on: controller) else { throw CancellationError() }
        }

        @MainActor private static func show(
            _ data: Data, on controller: @MainActor @Sendable () -> UIViewController?
        ) async throws -> Bool {
            let controller = try Presenter.free(controller)
            let provider = NSItemProvider()
            provider.registerDataRepresentation(forTypeIdentifier: HandOverCodec.itemType, visibility: .all) { load in
                load(data, nil)
                return nil
            }
            let sheet = UIActivityViewController(activityItems: [provider], applicationActivities: nil)
            return await withCheckedContinuation { continuation in
                sheet.tellEnd { continuation.resume(returning: $0) }
                controller.present(sheet, animated: true)
            }
        }
    }
#endif
