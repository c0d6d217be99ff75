import CordonDemo
import CordonPolicy
import CordonTestSupport
import Foundation
import Testing

/// Setup A of the documents: every place, everywhere the app saves or opens.
@Suite(.tags(.machineAlone), .serialized, .timeLimit(.minutes(10))) struct PlaceScenarios {
    private static let transfer: [String: JSONValue] = [
        "allowedOutboundDataTransferDestinations": .string("managedApps"),
        "allowedInboundDataTransferSources": .string("managedApps"),
    ]
    /// What a policy can leave open for saving, by its name in the policy.
    private static let storage: [String: Location] = [
        "oneDriveForBusiness": .oneDriveForBusiness, "sharePoint": .sharePoint, "box": .box,
        "localStorage": .localDrive, "photoLibrary": .cameraRoll, "iManage": .iManage, "egnyte": .egnyte,
    ]
    /// What a policy can leave open for opening.
    private static let sources: [String: Location] = [
        "oneDriveForBusiness": .oneDriveForBusiness, "sharePoint": .sharePoint, "camera": .camera,
        "localStorage": .localStorage, "photoLibrary": .photos,
    ]

    @Test func `SDK-SC-01…03: copies are saved to the places that the rules leave open, and to no other`() async throws
    {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage, rules: Self.transfer)
            let places = Location.allCases.filter { $0.saveNumber != nil }
            #expect(places.count == 11)
            try await worker.app.ask("note plan the plan")

            #expect(try await saved(by: worker, on: stage) == Set(places.map(\.rawValue)).union(["export"]), "SC-01")
            let own = try await worker.app.allows("save plan oneDriveForBusiness of \(worker.account)")
            #expect(own, "SC-01")

            for (name, place) in Self.storage.sorted(by: { $0.key < $1.key }) {
                try await worker.change(
                    ["saveAsBlocked": .bool(true), "allowedDataStorageLocations": .array([.string(name)])], on: stage)
                #expect(try await saved(by: worker, on: stage) == [place.rawValue], "SC-02 \(name)")
                if !place.belongsToNobody {
                    for other in ["worker-z@contoso.example", "personal"] {
                        #expect(
                            try await !worker.app.allows("save plan \(place.rawValue) of \(other)"), "SC-02 \(other)")
                    }
                }
            }

            try await worker.change(["allowedDataStorageLocations": .array([])], on: stage)
            #expect(try await saved(by: worker, on: stage).isEmpty, "SC-03")
            try await worker.app.ask("use personal")
            try await worker.app.ask("note plan my own plan")
            #expect(try await saved(by: worker, on: stage).isSuperset(of: ["other", "localDrive", "export"]), "SC-03")
        }
    }

    @Test func `SDK-SC-04…06: data comes from the places that the rules leave open, and from no other`() async throws {
        try await Programs.onStage { stage in
            let worker = try await EnrolledWorker.begin(on: stage, rules: Self.transfer)
            let places = Location.allCases.filter { $0.openNumber != nil }
            #expect(places.count == 10)
            let all = Set(places.map(\.rawValue)).union(["import"])

            #expect(try await opened(by: worker, on: stage, "first") == all, "SC-04")

            for (name, place) in Self.sources.sorted(by: { $0.key < $1.key }) {
                try await worker.change(
                    [
                        "blockDataIngestionIntoOrganizationDocuments": .bool(true),
                        "allowedDataIngestionLocations": .array([.string(name)]),
                    ], on: stage)
                #expect(try await opened(by: worker, on: stage, name) == [place.rawValue], "SC-05 \(name)")
                if !place.belongsToNobody {
                    let file = try file(called: "foreign", on: stage)
                    #expect(
                        try await !worker.app.allows("open \(file) \(place.rawValue) of worker-z@contoso.example"),
                        "SC-05")
                }
            }

            try await worker.change(["allowedDataIngestionLocations": .array([])], on: stage)
            #expect(try await opened(by: worker, on: stage, "last").isEmpty, "SC-06")
            try await worker.app.ask("use personal")
            #expect(
                try await opened(by: worker, on: stage, "own").isSuperset(of: ["other", "camera", "import"]), "SC-06")
        }
    }

    /// Saves everywhere, at each place where the app saves; where a copy really lies afterwards.
    private func saved(by worker: EnrolledWorker, on stage: DemoStage) async throws -> Set<String> {
        let saved = stage.home(of: "worker").appending(path: "saved")
        try? FileManager.default.removeItem(at: saved)
        var allowed: Set<String> = []
        for place in Location.allCases.filter({ $0.saveNumber != nil }).map(\.rawValue)
        where try await worker.app.allows("save plan \(place)") {
            allowed.insert(place)
        }
        if try await worker.app.allows("export plan \(saved.appending(path: "export").path)") {
            allowed.insert("export")
        }
        let copies = (try? FileManager.default.contentsOfDirectory(atPath: saved.path)) ?? []
        #expect(Set(copies) == allowed, "what was refused was not written")
        return allowed
    }

    /// Opens from everywhere, at each place where the app opens; what really is a note afterwards.
    private func opened(by worker: EnrolledWorker, on stage: DemoStage, _ round: String) async throws -> Set<String> {
        var allowed: Set<String> = []
        for place in Location.allCases.filter({ $0.openNumber != nil }).map(\.rawValue)
        where try await worker.app.allows("open \(try file(called: "\(round)-\(place)", on: stage)) \(place)") {
            allowed.insert(place)
        }
        if try await worker.app.allows("import \(try file(called: "\(round)-import", on: stage))") {
            allowed.insert("import")
        }
        let notes = (try await worker.app.ask("notes").members["titles"]?.array ?? []).compactMap(\.string)
        #expect(Set(notes.filter { $0.hasPrefix(round + "-") }) == Set(allowed.map { "\(round)-\($0)" }))
        return allowed
    }

    private func file(called name: String, on stage: DemoStage) throws -> String {
        let folder = stage.folder.appending(path: "incoming")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: name)
        try Data("from \(name)".utf8).write(to: file)
        return file.path
    }
}
