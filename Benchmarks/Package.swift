// swift-tools-version: 6.2

import PackageDescription

/// A package of its own, so that nobody who builds Cordon builds its benchmarks.
let package = Package(
    name: "cordon-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "cordon", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .target(
            name: "BenchmarkSQLite", dependencies: [.product(name: "GRDBSQLite", package: "GRDB.swift")],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .target(name: "AllocationCounter"),
        // The vault's cipher, built once more from its own files, so that it can be called beside the bare AEAD.
        .target(name: "BareAEAD", dependencies: [.product(name: "Crypto", package: "swift-crypto")]),
        .executableTarget(
            name: "ChunkBenchmark", dependencies: ["BareAEAD", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: [.swiftLanguageMode(.v6), .enableUpcomingFeature("InternalImportsByDefault")]),
        .executableTarget(
            name: "PolicyBenchmark",
            dependencies: [
                "AllocationCounter", .product(name: "CordonIdentity", package: "cordon"),
                .product(name: "CordonPolicy", package: "cordon"),
            ], exclude: ["peers.py"], swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "IdentityBenchmark",
            dependencies: [
                .product(name: "CordonDispatch", package: "cordon"),
                .product(name: "CordonIdentity", package: "cordon"),
            ], swiftSettings: [.swiftLanguageMode(.v6)]),
        // What IdentityBenchmark compares with: links nothing of Cordon.
        .executableTarget(name: "PlainDispatch", swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "AppToolsBenchmark", swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "BrokerBenchmark",
            dependencies: [
                .product(name: "CordonBroker", package: "cordon"), .product(name: "CordonIdentity", package: "cordon"),
                .product(name: "CordonSignIn", package: "cordon"), .product(name: "CordonTesting", package: "cordon"),
                .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "RevocationBenchmark",
            dependencies: [
                .product(name: "CordonDemo", package: "cordon"), .product(name: "CordonHTTPClient", package: "cordon"),
                .product(name: "CordonPolicy", package: "cordon"), .product(name: "CordonSignIn", package: "cordon"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ], swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "ServiceBenchmark",
            dependencies: [
                .product(name: "CordonHTTPClient", package: "cordon"),
                .product(name: "CordonIdentity", package: "cordon"), .product(name: "CordonPolicy", package: "cordon"),
                .product(name: "CordonProtocol", package: "cordon"), .product(name: "CordonService", package: "cordon"),
                .product(name: "CordonServiceHTTP", package: "cordon"),
                .product(name: "CordonServiceSQLite", package: "cordon"),
                .product(name: "CordonTesting", package: "cordon"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "StartBenchmark",
            dependencies: [
                .product(name: "Cordon", package: "cordon"), .product(name: "CordonIdentity", package: "cordon"),
                .product(name: "CordonPolicy", package: "cordon"), .product(name: "CordonProtocol", package: "cordon"),
                .product(name: "CordonSignIn", package: "cordon"), .product(name: "CordonVault", package: "cordon"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ], swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "VaultBenchmark",
            dependencies: [
                .product(name: "CordonIdentity", package: "cordon"), .product(name: "CordonVault", package: "cordon"),
                .product(name: "CordonVaultSQLite", package: "cordon"), "AllocationCounter", "BenchmarkSQLite",
            ], swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "VaultCrash",
            dependencies: [
                .product(name: "CordonIdentity", package: "cordon"), .product(name: "CordonVault", package: "cordon"),
                .product(name: "CordonVaultSQLite", package: "cordon"), "BenchmarkSQLite",
            ], swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
