/** Where a long run makes its package, from the root of the repository. */
export const PACKAGE = 'node_modules/.cache/package'

/** Beside its code: the programs of tests. Their code looks there for what is in the package. */
export const PROGRAMS = `${PACKAGE}/dist/programs`
