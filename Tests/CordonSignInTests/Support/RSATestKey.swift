/// A key pair made for these tests alone; it protects nothing.
enum RSATestKey {
    static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQCdSOtRtVZGb47K
        CXi/mPJkZgvHnZti+gGtccbenUcVfx/Lrg9NQW1L/hEpRCft+sYNOhzoJNVcjFZ9
        StIO8+TA2QfFZFbngBm3XasELzGXK7bQlZ562Q3g31GAIRPULRqAMBmn0n9f+iEB
        pUKMj6bOhV7rYTpJWuhXLmCXzYd5CnX0nQfLECFI2u4J/5MsFlVxfI49prtJ3iFE
        9aE3ryX4nnbwPf9tQGvnxlaDq8rSqVpgwb2JhBRfkcvamfxv//mWXWXWogkxruy5
        MUdR9J3z0kJLJXMiZ47JmF65bEKlEZUKC3PLFTXoMlA4hZlyrcQsE17JjG64hAh2
        FfvGg8e3AgMBAAECggEAGyqGlojLG4RWNdg39mPc7fFgNHyo44oJ8yK1NisVJYXd
        AImSVAYqchcycJ24hdasEYnJh2EhRwhoQeDD8lg22QZDXNktV3PdPToc+S6LkrA2
        tcU5578Ish/wTECqU5nsu1pTfBST8ohZ3hZkrbF8HqyTjfUvo47jlXdJsL6LmSCr
        i/6h3e27ZKdmhHsL8qhhEQ1LUA4lLex/QZtyqzSoG5BeMuv/unrEaeHDFRNExcVa
        uvL3BNiZYMpyyG1GiOJtO/NcWj/w4Ij4VDsWT+v2T7+L5uAV38VyU8eRRoPnO/Sk
        DVzjHeJ5MFxzJyFUQqpIS/OoVJf488euRP+goFfd3QKBgQDQaowUyHX2qVUEulje
        Mkk1IRL4tKMWu9j7gTMIFhm7NqpjPq78B5oauK8lbocyHOE4tJ+aCQbQHEN24rN/
        W76XgTXnL9kues97cZIijBAQ7a3YqmvFKrL6qeciZMV4b5Qv8lUJr+qYuUiXPVPu
        BaRG2XgjEv0Eeg2T3wJvKsHXNQKBgQDBMdxB6lsVaXy5uAKyz7SvSwKpmU9VK+5k
        VDyggwRC7/0Pj0TAMdBz7gg7btogQdmf9rRlYtk9ffEEbMQxSjHvD63ZPJueq3pX
        af0CfLltskCCZ763ndKiATsuA1In4CnAAhrAB2MJ8lJvAMTsgM1mbh6dFHc0Jwp/
        YplAU2vEuwKBgG2kL69bSduKd2R2V/wEfkjJ7n4SIV37Uon1DRCq97xqZLazKkEC
        CssV72YEwHDXipBXTUMujnv68m7fkkhkzl5LpjzKCjoOd4pcU+GCx4zwTK2X8fwW
        m3OM4EBSvSO/pziWBrCC8CqKBqsxoy6rnyF6lF33Rk4Nm4j4IAK1fqYlAoGACe5v
        PTA3+HTQxZdRBDIrPqujemZ4Lo+wlJXD/BhgGrTNlIQv65Vj+uGsqKl9KxVXg6Ki
        CWg4dLHJtwmEWGhRAtIShM1ZzqFQC7hWGk+hFKOKL2n34uaJEmzvxuDC02vxmX5C
        M8btb3B2jmBCv0mrxW05w6durU6oen3uFOF088sCgYBoSlcVeGSOXnLiio0KsiTn
        CbS3R4nDZxRVrr1hMVdZGkw7DUwx/F/glAmFrx/CZwcEztG4WCVQ3s8kamjfIx8T
        IL6vgT559G+NSI/8ikrZx3ijpVF2IrcgWr1o+OQ41zn5rHlBkhcecKMg34Bo45Gv
        kULFasxPRln3tgDMs7HUgg==
        -----END PRIVATE KEY-----
        """
}
