/// What keeps data on the device outside the vault, or in a cloud.
extension WayCatalogue {
    mutating func addKeeping() {
        addFiles()
        addDatabases()
        addCloud()
    }

    private mutating func addFiles() {
        add(
            ["write"], .file, .method(nil), .warning, labels: ["to", "toFile", "contentsOf", "toURL"], when: .isPlace,
            swiftOnly: true)
        add(["writeToFile", "writeToURL"], .file, .method(nil), .warning)
        add(["write", "writeData"], .file, .method(.fileHandle), .warning, when: .isFile)
        add(
            ["createFile", "createFileAtPath"], .file, .method(nil), .warning, labels: ["atPath", "contents"],
            when: .isPlace)
        add(
            [
                "copyItem", "moveItem", "linkItem", "copyItemAtPath", "moveItemAtPath", "copyItemAtURL",
                "moveItemAtURL", "replaceItem",
                "replaceItemAt", "replaceItemAtURL",
            ],
            .file, .method(nil), .warning)
        add(
            ["FileHandle"], .file, .make, .warning,
            labels: ["forWritingTo", "forWritingAtPath", "forUpdating", "forUpdatingAtPath"])
        add(
            [
                "fileHandleForWritingAtPath", "fileHandleForWritingToURL", "fileHandleForUpdatingAtPath",
                "fileHandleForUpdatingURL",
            ], .file,
            .method(nil), .warning)
        add(
            ["OutputStream", "NSOutputStream"], .file, .make, .warning,
            labels: ["toFileAtPath", "url", "append", "initToFileAtPath", "initWithURL"])
        add(
            ["outputStreamToFileAtPath", "outputStreamWithURL", "initToFileAtPath"], .file, .method(nil), .warning,
            swiftOnly: false)
        add(["fopen", "freopen", "fopen_s", "open", "creat", "fdopen"], .file, .call, .warning, when: .writes)
        add(["open"], .file, .method(nil), .warning, when: .writes, swiftOnly: true)
        add(["ofstream"], .file, .make, .warning, swiftOnly: false)
        add(["archiveRootObject"], .file, .method(nil), .warning)
        add(
            ["UIGraphicsBeginPDFContextToFile", "CGPDFContextCreateWithURL", "CGImageDestinationCreateWithURL"],
            .file, .call, .warning)
        add(["writePDF", "writePDFToURL", "writePNG"], .file, .method(nil), .warning)
        add(
            [
                "writePNGRepresentation", "writeJPEGRepresentation", "writeTIFFRepresentation",
                "writeHEIFRepresentation",
            ], .file, .method(nil), .warning)
        add(["AVAudioRecorder"], .file, .make, .warning, labels: ["url", "settings", "initWithURL"])
        add(["AVAudioFile"], .file, .make, .warning, labels: ["forWriting"])
        add(["AVAssetWriter"], .file, .make, .warning)
        add(["outputURL"], .file, .assign(nil), .warning)
        add(["export"], .file, .method(nil), .warning, labels: ["as"], swiftOnly: true)
        // Where a web view's download is kept.
        add(
            ["download"], .file, .callback, .warning,
            labels: ["decideDestinationUsing", "decideDestinationUsingResponse"])
        add(
            ["contents", "contentsForType"], .file, .callback, .warning, labels: ["forType", "contentsForType"],
            when: .inDocument)
        add(
            ["fileWrapper", "snapshot"], .file, .callback, .warning,
            labels: ["configuration", "contentType", "snapshot"], when: .inDocument)
        add(["decrypt"], .file, .method(nil), labels: ["toCopy"], swiftOnly: true)

        add(["set", "setValue", "setObject", "setURL"], .defaults, .method(.defaults), .warning, when: .storesContent)
        add(["AppStorage", "SceneStorage"], .defaults, .attribute, .warning, when: .storesContent, swiftOnly: true)
        add(["SecItemAdd", "SecItemUpdate"], .keychain, .call, .warning)
        add(["Keychain"], .keychain, .make, .warning, labels: ["service", "accessGroup", "server"])
        add(
            ["KeychainSwift", "KeychainWrapper", "SAMKeychain", "A0SimpleKeychain", "KeychainItemWrapper"], .keychain,
            .make, .warning)
    }

    private mutating func addDatabases() {
        add(
            ["sqlite3_open", "sqlite3_open_v2", "sqlite3_open16", "sqlite3_backup_init"], .database, .call, .warning,
            when: .keeps)
        add(["FMDatabase", "FMDatabaseQueue", "FMDatabasePool"], .database, .make, .warning, when: .keeps)
        add(["databaseWithPath", "databaseQueueWithPath"], .database, .method(nil), .warning)
        add(["DatabaseQueue", "DatabasePool"], .database, .make, .warning, labels: ["path"], when: .keeps)
        add(["Connection"], .database, .make, .warning, when: .keeps, swiftOnly: true)
        add(["Realm", "RLMRealm"], .database, .make, .warning, when: .keeps)
        add(["NSPersistentContainer"], .database, .make, .warning, when: .keeps)
        add(["addPersistentStore", "addPersistentStoreWithType"], .database, .method(nil), .warning, when: .keeps)
        add(["ModelContainer"], .database, .make, .warning, when: .keeps, swiftOnly: true)
        add(["modelContainer"], .database, .method(nil), .warning, labels: ["for"], when: .keeps, swiftOnly: true)
        add(["MMKV", "YapDatabase", "UIManagedDocument"], .database, .make, .warning)
        add(["URLCache", "NSURLCache"], .database, .make, .note, labels: ["diskCapacity", "initWithMemoryCapacity"])
    }

    private mutating func addCloud() {
        add(["NSPersistentCloudKitContainer"], .cloud, .make)
        add(
            ["set", "setObject", "setString", "setData", "setArray", "setDictionary"], .cloud, .method(.cloudStore),
            when: .storesContent)
        add(
            ["save", "saveRecord", "modifyRecords", "modifyRecordZones", "add", "addOperation"], .cloud,
            .method(.cloudDatabase))
        add(["CKModifyRecordsOperation", "CKSyncEngine", "CKShare"], .cloud, .make)
        add(["setUbiquitous", "startDownloadingUbiquitousItem"], .cloud, .method(nil))
        add(["forUbiquityContainerIdentifier", "URLForUbiquityContainerIdentifier"], .cloud, .method(nil), .warning)
        add(["url"], .cloud, .method(nil), .warning, labels: ["forUbiquityContainerIdentifier"], swiftOnly: true)
        add(["isExcludedFromBackup"], .backup, .assign(nil), when: .isOff)
        add(
            ["containerURL"], .container, .method(nil), .warning, labels: ["forSecurityApplicationGroupIdentifier"],
            swiftOnly: true)
        add(["containerURLForSecurityApplicationGroupIdentifier"], .container, .method(nil), .warning, swiftOnly: false)
    }
}
