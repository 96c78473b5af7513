/** SHA-256 of the allowlist.yaml that this version ships. Its tests pass: test/policy/everyday.test.ts. */
export const SHIPPED_POLICY = '08fc5a48283e17473307e12b5744d3c152e1b6de6f955ce2a3274758610f18e1';
