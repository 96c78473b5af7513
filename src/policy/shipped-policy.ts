/** SHA-256 of the allowlist.yaml that this version ships. Its tests pass: test/policy/everyday.test.ts. */
export const SHIPPED_POLICY = '403fb890eae5a64431565b48a8ebd9022cd44c4bb8b4b4b8edecb921aa8013b7';
