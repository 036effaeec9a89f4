import { cpSync, globSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { type ChunkingContext, type Plugin, RolldownMagicString, rolldown } from 'rolldown'
import { type ESTree, parseSync } from 'rolldown/utils'

const ROOT = resolve(import.meta.dirname, '..')
const SRC = join(ROOT, 'src')

/** Files that Node begins with: doors, programs, threads, and what is loaded before other code. */
const ENTRIES = [
  'author/index.ts',
  'files/index.ts',
  'sandbox/index.ts',
  'testing/index.ts',
  'admin/client/index.ts',
  'app/main.js',
  'cli/main.js',
  // Read alone: an old Node can read nothing else, and compiled code is kept only after it.
  'project/process-setup.js',
  'app/engine/engine-thread-main.ts',
  'store/sqlite/thread/writer-thread.ts',
  'store/sqlite/thread/reader-thread.ts',
  'files/disk/hash-worker.ts',
  'project/config/break-loop.ts',
  'app/engine/quarantine-main.ts',
  'app/preview/isolated-main.ts',
  'app/preview/hooks/isolation-hooks.ts',
  'app/rehearsal/rehearsal-main.ts',
  'app/rehearsal/on-refused.ts',
]

/** Parts that are loaded as a whole, late imports too. Modules of the same parts make a chunk. */
const TOGETHER = {
  // The configuration of a project imports the door for authors.
  app: [
    'app/run-program.ts',
    'app/app.ts',
    'app/open-parts.ts',
    'store/sqlite/thread/threaded-store.ts',
    'author/index.ts',
  ],
  engine: ['app/engine/engine-thread-main.ts', 'store/sqlite/thread/connected-store.ts', 'author/index.ts'],
  store: ['store/sqlite/thread/writer-thread.ts', 'store/sqlite/thread/reader-thread.ts'],
  hash: ['files/disk/hash-worker.ts'],
  sandbox: ['sandbox/index.ts'],
  command: ['cli/run-command-line.ts'],
}

/** Libraries that each start or command loads. Our manifest pins them, so none is older. */
const BUNDLED = ['zod', 'pino', 'node-cron', 'content-type', 'secure-json-parse', 'commander', '@commander-js']

/** Whether a bundle leaves it out: a part of Node, or a library that the package asks for. */
export function isExternal(id: string, importer: string | undefined): boolean {
  if (id.startsWith('.') || isAbsolute(id)) return false
  if (isBuiltin(id)) return true
  const isOfBundled = importer?.includes('/node_modules/') ?? false
  return !isOfBundled && !BUNDLED.includes(id.split('/', 1)[0] ?? '')
}

/** Folders that keep their code apart: a stack trace tells by the path whose call it is. */
const APART = ['files', 'engine/pass']

/**
 * Bundles our code into a few files, each module once, beside what it reads. A start spent most of
 * its time on finding and linking a thousand.
 */
export async function bundle(dist: string): Promise<void> {
  const input = Object.fromEntries(ENTRIES.map((file) => [file.replace(/\.\w+$/, ''), join(SRC, file)]))
  const chunks = new Chunks()
  await using bundled = await rolldown({
    input,
    platform: 'node',
    external: isExternal,
    plugins: [keepPlaces],
    preserveEntrySignatures: 'allow-extension',
    checks: { ineffectiveDynamicImport: false },
  })
  const { output } = await bundled.write({
    dir: dist,
    entryFileNames: '[name].js',
    chunkFileNames: ({ name }) => (name.includes('/') ? '[name]-[hash].js' : 'chunks/[name]-[hash].js'),
    hashCharacters: 'hex',
    // Errors are known by the names of their classes.
    keepNames: true,
    sourcemap: true,
    sourcemapExcludeSources: true,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ debugName: 'together', name: (id, context) => chunks.nameOf(id, context) }],
    },
  })
  copyAssets(dist, new Set(output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))))
}

/** Copies migrations, styles, scripts and pictures: all that is not in the bundle. */
function copyAssets(dist: string, bundled: ReadonlySet<string>): void {
  const assets = globSync('**/*.*', { cwd: SRC, exclude: ['dashboard/**', '**/*.ts'] })
  for (const asset of assets.filter((name) => !bundled.has(join(SRC, name)))) {
    cpSync(join(SRC, asset), join(dist, asset), { force: false })
  }
}

type Part = keyof typeof TOGETHER

/**
 * The chunk of each module that is loaded at a start; Rolldown splits the others. A chunk imports
 * those of more parts, or over fewer folders, so there is no circle.
 */
class Chunks {
  readonly #parts = new Map<string, Set<Part>>()
  readonly #reached = new Map<string, ReadonlySet<string>>()

  nameOf(id: string, context: ChunkingContext): string | null {
    if (this.#parts.size === 0) this.#gather(context)
    if (ENTRIES.includes(relative(SRC, id))) return null
    const apart = folderOf(id)
    const parts = [...(this.#parts.get(id) ?? [])]
    if (parts.length === 0 && apart === null) return null
    const below = [...this.#reach(id, context)]
      .filter((folder) => folder !== apart)
      .map((folder) => `over-${folder.replace('/', '-')}`)
    return `${apart ?? 'chunks'}/${[...(parts.length === 0 ? ['late'] : parts), ...below].join('-')}`
  }

  #gather(context: ChunkingContext): void {
    for (const [part, files] of Object.entries(TOGETHER) as [Part, string[]][]) {
      const found = new Set(files.map((file) => join(SRC, file)))
      for (const id of found) {
        for (const imported of importsOf(id, context)) found.add(imported)
        this.#parts.set(id, (this.#parts.get(id) ?? new Set()).add(part))
      }
    }
  }

  /** The folders that are kept apart, of this module and all that it imports. */
  #reach(id: string, context: ChunkingContext): ReadonlySet<string> {
    const known = this.#reached.get(id)
    if (known) return known
    const reached = new Set<string>()
    this.#reached.set(id, reached)
    const own = folderOf(id)
    if (own !== null) reached.add(own)
    for (const imported of importsOf(id, context))
      for (const folder of this.#reach(imported, context)) reached.add(folder)
    return reached
  }
}

function importsOf(id: string, context: ChunkingContext): string[] {
  return (context.getModuleInfo(id)?.importedIds ?? []).filter((imported) => isAbsolute(imported))
}

function folderOf(id: string): string | null {
  return APART.find((folder) => id.startsWith(join(SRC, folder, '/'))) ?? null
}

const PLACES = join(import.meta.dirname, 'places.ts')

/** Code that looks for a file beside its own finds it in `dist`, too. */
export const keepPlaces: Plugin = {
  name: 'keep-places',
  transform: {
    filter: { code: /import\.meta\.(url|dirname)/ },
    handler(code, id) {
      if (!id.startsWith(SRC)) return null
      const text = new RolldownMagicString(code)
      for (const { start, end, property } of findMetaProperties(parseSync(id, code).program)) {
        text.overwrite(start, end, `$${property}('${relative(SRC, id).replace(/\.ts$/, '.js')}')`)
      }
      text.prepend(`import { $dirname, $url } from '${PLACES}';`)
      return { code: text.toString(), map: text.generateMap({ hires: true }).toString() }
    },
  },
}

interface MetaProperty {
  start: number
  end: number
  property: string
}

/** Each `import.meta.url` and `import.meta.dirname` below a node; a text with the words is none. */
function findMetaProperties(node: unknown): MetaProperty[] {
  if (Array.isArray(node)) return node.flatMap(findMetaProperties)
  if (typeof node !== 'object' || node === null) return []
  const { type, object, property, start, end } = node as Partial<ESTree.MemberExpression>
  if (type === 'MemberExpression' && object?.type === 'MetaProperty' && property?.type === 'Identifier')
    return [{ start, end, property: property.name }] as MetaProperty[]
  return Object.values(node).flatMap(findMetaProperties)
}
