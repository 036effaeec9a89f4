interface Manifest {
  exports: Record<string, string>
  bin: Record<string, string>
  [field: string]: unknown
}

/** Fields that only the repository needs. */
const LEFT_OUT = ['devDependencies', 'optionalDependencies', 'scripts', 'allowScripts']

/** The manifest with compiled entry points. */
export function publishedManifest(ours: Manifest): Record<string, unknown> {
  const kept = Object.entries(ours).filter(([field]) => !LEFT_OUT.includes(field))
  return {
    ...Object.fromEntries(kept),
    exports: {
      ...mapValues(ours.exports, (source) => ({
        types: compiled(source, '.d.ts'),
        default: compiled(source, '.js'),
      })),
      './package.json': './package.json',
    },
    bin: mapValues(ours.bin, (source) => compiled(source, '.js')),
  }
}

function compiled(source: string, ending: string): string {
  return source.replace(/^\.\/src\//, './dist/').replace(/\.ts$/, ending)
}

function mapValues<T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
