/** Where a long run makes its package, from the root of the repository. */
export const PACKAGE = 'node_modules/.cache/package'
