/** SHA-256 of the allowlist.yaml that this version ships. Its tests pass: test/policy/everyday.test.ts. */
export const SHIPPED_POLICY = '9a8e231ed8fc554e26024dedb3abcbcc9236da55396e36bc35dda88807c5c2d2';
