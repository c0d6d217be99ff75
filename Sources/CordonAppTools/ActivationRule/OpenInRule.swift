/// The activation rule of an Open-In extension, made from the documents an app opens (TL-AR-40, 41).
public struct OpenInRule: Sendable {
    /// The rule in the documented layout.
    public let rule: ActivationRule
    /// Document types that have no type identifier, and what was made of them.
    public let notes: [String]

    /// Collects the app's document types; only their managed twins are accepted, one file at a time.
    ///
    /// - Parameter infersTypes: Whether common file extensions stand for their types.
    /// - Throws: ``AppToolsError`` `unsupported` when the app opens no documents.
    public init(app info: PropertyListValue, names: NamingProfile, infersTypes: Bool = false) throws(AppToolsError) {
        var types: [String] = []
        var notes: [String] = []
        for entry in info["CFBundleDocumentTypes"]?.array ?? [] where entry["CFBundleTypeRole"]?.string != "None" {
            if let listed = entry["LSItemContentTypes"]?.strings, !listed.isEmpty {
                types += listed
                continue
            }
            let extensions = entry["CFBundleTypeExtensions"]?.strings ?? []
            let inferred = infersTypes ? extensions.compactMap { Self.types[$0.lowercased()] } : []
            types += inferred
            let name = entry["CFBundleTypeName"]?.string ?? extensions.joined(separator: ", ")
            notes.append(
                inferred.isEmpty
                    ? "the document type \(name) lists no LSItemContentTypes and is left out"
                    : "the document type \(name) was taken as \(inferred.joined(separator: ", "))")
        }
        var seen: Set<String> = []
        types = types.filter { seen.insert($0.lowercased()).inserted }
        guard !types.isEmpty else {
            throw AppToolsError(.unsupported, "the app lists no document types", hint: "add CFBundleDocumentTypes")
        }
        let tests = types.map { type in
            let managed = PredicatePrinter.quoted(
                type.hasPrefix(names.managedTypePrefix) ? type : names.managedTypePrefix + type)
            return "ANY $attachment.registeredTypeIdentifiers UTI-CONFORMS-TO \(managed)"
        }
        let inner = "SUBQUERY($extensionItem.attachments, $attachment, \(tests.joined(separator: " || "))).@count == 1"
        rule = try ActivationRule("SUBQUERY(extensionItems, $extensionItem, \(inner)).@count == 1").canonical()
        self.notes = notes
    }

    private static let types = [
        "pdf": "com.adobe.pdf", "txt": "public.plain-text", "csv": "public.comma-separated-values-text",
        "docx": "org.openxmlformats.wordprocessingml.document", "xlsx": "org.openxmlformats.spreadsheetml.sheet",
        "pptx": "org.openxmlformats.presentationml.presentation", "png": "public.png", "jpg": "public.jpeg",
        "jpeg": "public.jpeg", "heic": "public.heic", "mov": "com.apple.quicktime-movie", "mp4": "public.mpeg-4",
        "zip": "public.zip-archive", "html": "public.html", "json": "public.json", "xml": "public.xml",
    ]
}
