// swift-tools-version: 6.2

import PackageDescription

// On Apple platforms the products that apps link declare why they read file dates; nothing loads the bundle.
#if os(macOS)
    let privacy: [Resource] = [.process("PrivacyInfo.xcprivacy")]
    let notPrivacy: [String] = []
#else
    let privacy: [Resource] = []
    let notPrivacy = ["PrivacyInfo.xcprivacy"]
#endif

/// The switches of every target: Swift 6 and explicit imports. Warnings are errors where `make` builds; a newer compiler or SDK
/// must not stop the build of an app that uses Cordon.
let strict: [SwiftSetting] =
    [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ] + (Context.environment["CORDON_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)])

/// `CORDON_SANITIZED=1` takes a lock that the thread sanitizer understands.
let sanitized: [SwiftSetting] = Context.environment["CORDON_SANITIZED"] == nil ? [] : [.define("CORDON_SANITIZED")]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let hummingbirdTesting = Target.Dependency.product(name: "HummingbirdTesting", package: "hummingbird")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let swiftASN1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A library that apps ship, with its privacy manifest.
func appLibrary(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, exclude: notPrivacy, resources: privacy, swiftSettings: strict)
}

func program(_ name: String, path: String? = nil, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "cordon",
    platforms: [.iOS(.v17), .macOS(.v15)],
    products: [
        .library(name: "Cordon", targets: ["Cordon"]),
        .library(name: "CordonIdentity", targets: ["CordonIdentity"]),
        .library(name: "CordonDispatch", targets: ["CordonDispatch"]),
        .library(name: "CordonPolicy", targets: ["CordonPolicy"]),
        .library(name: "CordonProtocol", targets: ["CordonProtocol"]),
        .library(name: "CordonVault", targets: ["CordonVault"]),
        .library(name: "CordonVaultSQLite", targets: ["CordonVaultSQLite"]),
        .library(name: "CordonSignIn", targets: ["CordonSignIn"]),
        .library(name: "CordonBroker", targets: ["CordonBroker"]),
        .library(name: "CordonHTTPClient", targets: ["CordonHTTPClient"]),
        .library(name: "CordonService", targets: ["CordonService"]),
        .library(name: "CordonServiceSQLite", targets: ["CordonServiceSQLite"]),
        .library(name: "CordonServiceHTTP", targets: ["CordonServiceHTTP", "CordonGraph", "CordonConsole"]),
        .library(name: "CordonTerminal", targets: ["CordonTerminal"]),
        .library(name: "CordonScreens", targets: ["CordonScreens"]),
        .library(name: "CordonApple", targets: ["CordonApple"]),
        .library(name: "CordonUIKit", targets: ["CordonUIKit"]),
        .library(name: "CordonSwiftUI", targets: ["CordonSwiftUI"]),
        .library(name: "CordonAppTools", targets: ["CordonAppTools"]),
        .library(name: "CordonTesting", targets: ["CordonTesting"]),
        .library(name: "CordonLeakScan", targets: ["CordonLeakScan"]),
        .executable(name: "cordon", targets: ["CordonCommand"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // Mechanisms that every room needs and none owns: no product, and no public import of it.
        .target(name: "CordonBase", exclude: ["Texts/Texts.xcstrings"], swiftSettings: strict + sanitized),

        // Signed texts and the keys that they are verified with: one reader, and a profile for each use. No product either.
        library("CordonSignatures", ["CordonBase", crypto, cryptoExtras]),

        // The pure core: no clock, no file, no socket.
        library("CordonIdentity", ["CordonBase"]),
        library("CordonPolicy", ["CordonBase", "CordonIdentity"]),

        // Opt-in: identity follows Grand Central Dispatch.
        .target(name: "CDispatchInterposition"),
        library("CordonDispatch", ["CordonBase", "CDispatchInterposition", "CordonIdentity"]),

        // Messages.
        library(
            "CordonProtocol", ["CordonBase", "CordonIdentity", "CordonPolicy", "CordonSignatures", crypto]),

        // Parts.
        .target(name: "CordonAEADShim", dependencies: [crypto]),
        appLibrary("CordonVault", ["CordonBase", "CordonAEADShim", "CordonIdentity", crypto]),
        .target(
            name: "CordonSQLiteShim", dependencies: ["CordonAEADShim"], linkerSettings: [.linkedLibrary("sqlite3")]),
        library("CordonVaultSQLite", ["CordonBase", "CordonIdentity", "CordonSQLiteShim", "CordonVault"]),
        appLibrary(
            "CordonSignIn",
            ["CordonBase", "CordonIdentity", "CordonProtocol", "CordonSignatures", crypto, httpTypes, logging]),

        // The facade, and how it reaches a network on Linux.
        appLibrary(
            "Cordon",
            [
                "CordonBase", "CordonAEADShim", "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonSignIn",
                "CordonVault", crypto, cryptoExtras, httpTypes, logging, swiftASN1,
            ]),
        // The interface of apps in a terminal.
        library("CordonTerminal", ["Cordon", "CordonBase"]),
        // What Cordon shows and when, as values, and the adapters that draw them: on Linux the last three are empty.
        appLibrary("CordonScreens", ["Cordon", "CordonBase"]),
        appLibrary("CordonApple", ["Cordon", "CordonBase", "CordonScreens", crypto, httpTypes]),
        library("CordonUIKit", ["Cordon", "CordonScreens"]),
        library("CordonSwiftUI", ["Cordon", "CordonApple", "CordonScreens", "CordonUIKit"]),
        // What answers no HTTP client of the package lets through; no product.
        library("CordonHTTPGuard", [asyncHTTPClient, nioCore, nioHTTP1, nioSSL]),
        library(
            "CordonHTTPClient",
            [
                "CordonBase", "CordonHTTPGuard", "CordonSignIn", asyncHTTPClient, httpTypes, nioCore, nioHTTP1,
                nioPosix,
                nioSSL,
            ]),

        // The one owner of a shared device's account.
        library(
            "CordonBroker",
            [
                "CordonBase", "CordonIdentity", "CordonProtocol", "CordonSignIn", "CordonSignatures", crypto, httpTypes,
                logging, nioCore, nioPosix,
            ]),

        // The service.
        library("CordonService", ["CordonBase", "CordonIdentity", "CordonPolicy", "CordonProtocol", crypto, logging]),
        library(
            "CordonServiceSQLite",
            ["CordonBase", "CordonIdentity", "CordonProtocol", "CordonService", grdb, grdbSQLite]),
        .target(name: "CordonZlibShim", linkerSettings: [.linkedLibrary("z")]),
        library(
            "CordonServiceHTTP",
            [
                "CordonBase", "CordonHTTPGuard", "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonService",
                "CordonSignatures", "CordonZlibShim", asyncHTTPClient, crypto, httpTypes, hummingbird, hummingbirdCore,
                hummingbirdTLS, logging, nioCore, nioHTTP1, nioHTTPTypes, nioSSL, serviceLifecycle, swiftASN1,
                unixSignals,
                x509,
            ]),
        // The administration API in the shape of Microsoft Graph, which a program adds to the server.
        library(
            "CordonGraph",
            [
                "CordonBase", "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonService", "CordonServiceHTTP",
                httpTypes, hummingbird, nioCore,
            ]),
        // Pages from templates, with every value escaped; no product.
        library("CordonPages", [mustache]),
        // The console: pages for administrators, which a program adds to the server.
        .target(
            name: "CordonConsole",
            dependencies: [
                "CordonBase", "CordonHTTPGuard", "CordonIdentity", "CordonPages", "CordonPolicy", "CordonProtocol",
                "CordonService", "CordonServiceHTTP", asyncHTTPClient, crypto, httpTypes, hummingbird, logging, nioCore,
                nioHTTP1,
                serviceLifecycle,
            ], exclude: ["Texts/Console.xcstrings"], swiftSettings: strict),
        // An OpenID provider for development and tests; the service knows no more of it than a program tells.
        library(
            "CordonDevelopmentProvider",
            [
                "CordonBase", "CordonPages", "CordonProtocol", "CordonSignatures", crypto, cryptoExtras, httpTypes,
                logging,
            ]),

        // Tools.
        library("CordonAppTools", ["CordonBase", "CordonZlibShim", crypto, cryptoExtras, swiftASN1, x509]),
        library("CordonScan", ["CordonBase"]),
        library("CordonLeakScan", ["CordonBase"]),
        library(
            "CordonDemo",
            [
                "CordonBase", "CordonHTTPClient", "CordonIdentity", "CordonLeakScan", "CordonPolicy", "CordonProtocol",
                "CordonSignIn", httpTypes,
            ]),
        library(
            "CordonTesting",
            [
                "CordonBase", "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonService", "CordonSignIn",
                crypto, httpTypes,
                logging,
            ]),

        // Programs.
        program(
            "CordonCommand",
            [
                "CordonBase", "CordonAppTools", "CordonBroker", "CordonConsole", "CordonDemo",
                "CordonDevelopmentProvider",
                "CordonGraph", "CordonHTTPClient", "CordonIdentity", "CordonPolicy",
                "CordonProtocol", "CordonScan", "CordonService", "CordonServiceHTTP", "CordonServiceSQLite",
                "CordonSignIn",
                "CordonVault", argumentParser, crypto, httpTypes, logging,
            ]),
        program(
            "FieldNotes", path: "Examples/FieldNotes",
            [
                "Cordon", "CordonHTTPClient", "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonSignIn",
                "CordonTerminal", "CordonVault", argumentParser, logging,
            ]),

        program(
            "ShiftBoard", path: "Examples/ShiftBoard",
            ["Cordon", "CordonIdentity", "CordonSignIn", "CordonTerminal", "CordonVault", argumentParser]),

        // Tests, beside what they test.
        .target(
            name: "CordonTestSupport", dependencies: ["CordonBase", "CordonPolicy"], path: "Tests/CordonTestSupport",
            swiftSettings: strict),
        tests("CordonBaseTests", ["CordonBase", "CordonTestSupport"]),
        tests("CordonSignaturesTests", ["CordonBase", "CordonSignatures", "CordonTestSupport", crypto, cryptoExtras]),
        tests("CordonIdentityTests", ["CordonIdentity"]),
        tests("CordonDispatchTests", ["CordonBase", "CordonDispatch", "CordonIdentity", "CordonTestSupport"]),
        .testTarget(
            name: "CordonPolicyTests",
            dependencies: ["CordonIdentity", "CordonPolicy", "CordonTestSupport", "CordonTesting"],
            exclude: ["mutants.txt"], swiftSettings: strict),
        tests("CordonProtocolTests", ["CordonBase", "CordonIdentity", "CordonPolicy", "CordonProtocol"]),
        .testTarget(
            name: "CordonVaultTests",
            dependencies: ["CordonTestSupport", "CordonBase", "CordonIdentity", "CordonPolicy", "CordonVault", crypto],
            exclude: ["mutants.txt"], swiftSettings: strict),
        tests(
            "CordonVaultSQLiteTests",
            [
                "CordonTestSupport", "CordonBase", "CordonIdentity", "CordonSQLiteShim", "CordonVault",
                "CordonVaultSQLite", grdb,
            ]),
        tests(
            "CordonSignInTests",
            [
                "CordonTestSupport", "CordonBase", "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonSignIn",
                "CordonTesting", cryptoExtras,
                httpTypes, jwtKit, logging,
            ]),
        tests(
            "CordonBrokerTests",
            [
                "CordonTestSupport", "CordonBase", "Cordon", "CordonBroker", "CordonIdentity", "CordonPolicy",
                "CordonProtocol", "CordonSignIn", "CordonTesting",
                httpTypes, logging, nioCore, nioEmbedded,
            ]),
        tests(
            "CordonHTTPClientTests",
            [
                "CordonTestSupport", "CordonBase", "CordonHTTPClient", "CordonHTTPGuard", "CordonSignIn",
                asyncHTTPClient, crypto,
                httpTypes,
                nioCore, nioPosix, nioSSL, swiftASN1, x509,
            ]),
        tests(
            "CordonTests",
            [
                "CordonTestSupport", "CordonBase", "Cordon", "CordonIdentity", "CordonPolicy", "CordonProtocol",
                "CordonSignIn", "CordonTerminal",
                "CordonTesting",
                "CordonVault",
                crypto, httpTypes, logging,
            ]),
        tests("CordonScreensTests", ["Cordon", "CordonBase", "CordonScreens", "CordonTestSupport", "CordonTesting"]),
        tests(
            "CordonServiceTests",
            [
                "CordonTestSupport", "CordonBase", "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonService",
                "CordonTesting",
                logging,
            ]),
        tests(
            "CordonServiceSQLiteTests",
            [
                "CordonTestSupport", "CordonBase", "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonService",
                "CordonServiceSQLite",
                "CordonTesting", grdb, logging,
            ]),
        // Its kit is that of CordonServiceHTTPTests, by links: what a test sees of the service's inside is for each file to say.
        tests(
            "CordonGraphTests",
            [
                "CordonBase", "CordonGraph", "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonService",
                "CordonServiceHTTP", "CordonTestSupport", "CordonTesting", httpTypes, hummingbird,
                hummingbirdTesting, logging, nioCore,
            ]),
        tests(
            "CordonServiceHTTPTests",
            [
                "CordonTestSupport", "CordonBase", "CordonDevelopmentProvider", "CordonGraph", "CordonIdentity",
                "CordonPolicy",
                "CordonProtocol", "CordonService", "CordonServiceHTTP", "CordonSignIn", "CordonSignatures",
                "CordonTesting",
                asyncHTTPClient, crypto, cryptoExtras, httpTypes, hummingbird, hummingbirdTesting, logging,
                nioCore, nioEmbedded, nioHTTPTypes, swiftASN1, x509,
            ]),
        tests(
            "CordonConsoleTests",
            [
                "CordonTestSupport", "CordonBase", "CordonConsole", "CordonDevelopmentProvider", "CordonGraph",
                "CordonHTTPClient", "CordonIdentity", "CordonPages", "CordonPolicy", "CordonProtocol", "CordonService",
                "CordonServiceHTTP",
                "CordonSignIn", "CordonTesting", crypto, httpTypes, hummingbird, hummingbirdTesting, logging, nioCore,
            ]),
        tests(
            "CordonDevelopmentProviderTests",
            [
                "CordonTestSupport", "CordonBase", "CordonDevelopmentProvider", "CordonIdentity", "CordonProtocol",
                "CordonService",
                "CordonServiceHTTP", crypto, cryptoExtras, httpTypes, hummingbirdTesting, jwtKit, logging, nioCore,
            ]),
        tests("CordonAppToolsTests", ["CordonTestSupport", "CordonAppTools", crypto]),
        tests(
            "CordonCommandTests",
            [
                "CordonTestSupport", "CordonBase", "CordonAppTools", "CordonBroker", "CordonCommand",
                "CordonDevelopmentProvider", "CordonGraph", "CordonHTTPClient", "CordonIdentity", "CordonPolicy",
                "CordonProtocol", "CordonService", "CordonServiceHTTP", "CordonServiceSQLite", "CordonSignIn",
                "CordonTesting", argumentParser, crypto, cryptoExtras, httpTypes, hummingbird, logging,
            ]),
        tests("CordonScanTests", ["CordonTestSupport", "CordonScan"]),
        tests("CordonLeakScanTests", ["CordonLeakScan", "CordonTestSupport"]),
        tests(
            "CordonDemoTests",
            ["CordonDemo", "CordonHTTPClient", "CordonProtocol", "CordonSignIn", httpTypes]),
        tests(
            "RealProviderTests",
            ["CordonTestSupport", "CordonDemo", "CordonHTTPClient", "CordonIdentity", "CordonSignIn", httpTypes]),
        tests(
            "EndToEndTests",
            [
                "CordonTestSupport", "CordonBase", "CordonDemo", "CordonHTTPClient", "CordonLeakScan", "CordonPolicy",
                "CordonProtocol", "CordonSignIn", "CordonTesting",
            ]),
    ]
)

// `CORDON_TESTS=CordonVaultTests,CordonBaseTests` leaves these tests and what they need, so that a sanitizer or a measure of coverage
// builds no more than it runs.
if let kept = Context.environment["CORDON_TESTS"] {
    var wanted = Set(kept.split(separator: ",").map(String.init))
    var isComplete = false
    while !isComplete {
        let needed = package.targets.filter { wanted.contains($0.name) }.flatMap(\.dependencies).compactMap {
            dependency in
            if case .byNameItem(let name, _) = dependency { name } else { nil }
        }
        isComplete = wanted.isSuperset(of: needed)
        wanted.formUnion(needed)
    }
    package.targets.removeAll { !wanted.contains($0.name) }
    package.products = []
}

// Programs for those who work on Cordon; other packages never build them. `make bench`, `make crash` and `make fuzz` set the switches.

func benchmark(_ name: String, exclude: [String] = [], _ dependencies: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, path: "Benchmarks/\(name)", exclude: exclude,
        swiftSettings: [.swiftLanguageMode(.v6)])
}

func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    // A fuzzer brings a `main` of its own.
    .executableTarget(
        name: name, dependencies: dependencies, path: "Fuzz/\(name)",
        swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(["-parse-as-library"])])
}

if Context.environment["CORDON_BENCHMARKS"] != nil {
    package.targets += [
        .target(
            name: "BenchmarkSQLite", dependencies: [grdbSQLite],
            path: "Benchmarks/BenchmarkSQLite", swiftSettings: [.swiftLanguageMode(.v6)]),
        .target(name: "AllocationCounter", path: "Benchmarks/AllocationCounter"),
        .target(
            name: "SteadyState", path: "Benchmarks/SteadyState", swiftSettings: [.swiftLanguageMode(.v6)]),
        .target(name: "NullDevice", path: "Benchmarks/NullDevice"),
        // The vault's cipher, built once more from its own files, so that it can be called beside the bare AEAD.
        .target(name: "BareAEAD", dependencies: [crypto], path: "Benchmarks/BareAEAD"),
        .executableTarget(
            name: "ChunkBenchmark", dependencies: ["BareAEAD", crypto], path: "Benchmarks/ChunkBenchmark",
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("InternalImportsByDefault")]),
        benchmark("PolicyBenchmark", exclude: ["peers.py"], ["AllocationCounter", "CordonIdentity", "CordonPolicy"]),
        benchmark("IdentityBenchmark", ["CordonDispatch", "CordonIdentity"]),
        // What IdentityBenchmark compares with: links nothing of Cordon.
        benchmark("PlainDispatch"),
        benchmark("AppToolsBenchmark"),
        benchmark("ScanBenchmark", ["CordonScan"]),
        benchmark(
            "BrokerBenchmark",
            ["CordonBroker", "CordonDemo", "CordonIdentity", "CordonSignIn", "CordonTesting", "SteadyState", logging]),
        benchmark(
            "RevocationBenchmark", ["CordonDemo", "CordonHTTPClient", "CordonPolicy", "CordonSignIn", httpTypes]),
        benchmark(
            "ServiceBenchmark",
            [
                "CordonBase", "CordonConsole", "CordonDevelopmentProvider", "CordonGraph", "CordonHTTPClient",
                "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonService", "CordonServiceHTTP",
                "CordonServiceSQLite", "CordonSignIn", "CordonTesting", "SteadyState", crypto, grdbSQLite, httpTypes,
                logging, nioCore, nioPosix, nioSSL, swiftASN1, x509,
            ]),
        benchmark(
            "StartBenchmark",
            [
                "AllocationCounter", "Cordon", "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonSignIn",
                "CordonVault", crypto, httpTypes, logging,
            ]),
        benchmark(
            "VaultBenchmark",
            [
                "AllocationCounter", "BenchmarkSQLite", "CordonAEADShim", "CordonIdentity", "CordonVault",
                "CordonVaultSQLite", "NullDevice",
            ]),
        benchmark("VaultCrash", ["BenchmarkSQLite", "CordonIdentity", "CordonVault", "CordonVaultSQLite"]),
        benchmark(
            "VaultProofs",
            [
                "AllocationCounter", "CordonAEADShim", "CordonIdentity", "CordonSignIn", "CordonVault", "SteadyState",
                crypto,
            ]),
    ]
}

if Context.environment["CORDON_FUZZ"] != nil {
    package.targets += [
        fuzzer("AppToolsFuzz", ["CordonAppTools"]),
        fuzzer("BrokerFuzz", ["CordonBroker", "CordonSignIn"]),
        fuzzer("DatabaseFuzz", ["CordonIdentity", "CordonSQLiteShim", "CordonVault", "CordonVaultSQLite"]),
        fuzzer("PolicyFuzz", ["CordonIdentity", "CordonPolicy"]),
        fuzzer("ProtocolFuzz", ["CordonBase", "CordonProtocol"]),
        fuzzer("ScanFuzz", ["CordonScan"]),
        fuzzer("ServiceFuzz", ["CordonGraph"]),
        fuzzer("VaultFuzz", ["CordonIdentity", "CordonVault"]),
    ]
}
