// swift-tools-version: 6.2

import PackageDescription

// An app's own package, as strict as this one is: it depends on the product `Cordon` alone and sees public API alone.
let package = Package(
    name: "adopter",
    platforms: [.iOS(.v17), .macOS(.v15)],
    dependencies: [.package(name: "cordon", path: "../..")],
    targets: [
        .executableTarget(
            name: "Adopter", dependencies: [.product(name: "Cordon", package: "cordon")],
            swiftSettings: [
                .swiftLanguageMode(.v6),
                .enableUpcomingFeature("InternalImportsByDefault"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .treatAllWarnings(as: .error),
            ])
    ]
)
