/** Resolves when ink can lay out. The bundle has another file in place of this one, whose engine is loaded while the rest starts. */
export async function whenLaidOut(): Promise<void> {}
