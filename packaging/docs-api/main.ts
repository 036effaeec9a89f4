import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, type DeclarationReflection, type ProjectReflection, type Serializer } from 'typedoc'
import { type MarkdownPageEvent, MarkdownTheme, MarkdownThemeContext } from 'typedoc-plugin-markdown'

/** The doors of the package, and the rooms that they open: a page each. */
const DOORS = [
  { door: 'upshot', room: 'author' },
  { door: 'upshot/files', room: 'files' },
  { door: 'upshot/sandbox', room: 'sandbox' },
  { door: 'upshot/testing', room: 'testing' },
] as const

const ROOT = resolve(import.meta.dirname, '../..')

/** Says each thing once: a signature already holds parameters, types and what is returned. */
class BriefTheme extends MarkdownTheme {
  override getRenderContext(page: MarkdownPageEvent) {
    const context = new MarkdownThemeContext(this, page as never, this.application.options)
    const nothing = () => ''
    context.partials = { ...context.partials, signatureReturns: nothing, inheritance: nothing, hierarchy: nothing }
    return context
  }
}

/** Writes the API reference for authors into `folder`, from the doc comments of the doors. */
export async function writeApi(folder: string): Promise<void> {
  const options = {
    plugin: ['markdown', 'missing-exports'].map((name) => fileURLToPath(import.meta.resolve(`typedoc-plugin-${name}`))),
    // Types that a door's own types refer to are explained beside them.
    placeInternalsInOwningModule: true,
    excludePrivate: true,
    entryPoints: DOORS.map(({ room }) => join(ROOT, 'src', room, 'index.ts')),
    // Its program has the doors alone, where that of the root has all tests, too.
    tsconfig: join(ROOT, 'packaging/tsconfig.json'),
    name: 'API reference',
    readme: 'none',
    logLevel: 'Error',
    // Our own compiler checks the sources; this one is older and only reads them.
    skipErrorChecking: true,
    excludeExternals: true,
    disableSources: true,
    sort: ['source-order'],
    groupOrder: ['Functions', 'Variables', 'Interfaces', 'Type Aliases', 'Classes'],
    router: 'module',
    theme: 'brief',
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    expandParameters: true,
    parametersFormat: 'none',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
  }
  const app = await Application.bootstrapWithPlugins(options as object)
  app.renderer.defineTheme('brief', BriefTheme as never)
  const project = await app.convert()
  if (!project) throw new Error('The doors do not compile.')
  trim(project, app.serializer)
  rmSync(folder, { recursive: true, force: true })
  await app.outputs.writeOutput({ name: 'markdown', path: folder }, project)
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'))
  for (const page of pages) tidy(join(folder, page))
}

/** Gives each page the name that authors import, and removes types that they cannot reach. */
function trim(project: ProjectReflection, serializer: Serializer): void {
  for (const page of project.children ?? []) {
    const { door, room } = DOORS.find((each) => page.name.startsWith(each.room)) ?? { door: page.name, room: page.name }
    page.name = door
    const reached = listReachable(page.children ?? [], readExports(room), serializer)
    page.children = page.children?.filter((child) => reached.has(child)) ?? []
    for (const group of page.groups ?? [])
      group.children = group.children.filter((child) => reached.has(child as DeclarationReflection))
    page.groups = page.groups?.filter(({ children }) => children.length > 0) ?? []
  }
}

/** Names that the index of a room exports. */
function readExports(room: string): Set<string> {
  const text = readFileSync(join(ROOT, 'src', room, 'index.ts'), 'utf8')
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, list = '']) => list)
  const names = lists.flatMap((list) => list.split(',').map((name) => name.replace(/\btype\b|^.* as /g, '').trim()))
  const wholeFiles = [...text.matchAll(/^export \* from '([^']*)'/gm)].flatMap(([, file = '']) => {
    const source = readFileSync(join(ROOT, 'src', room, file), 'utf8')
    return [...source.matchAll(/^export (?:class|function|const|interface|type) (\w+)/gm)].map(([, name = '']) => name)
  })
  return new Set([...names, ...wholeFiles])
}

/** The exported ones, and those that a public member of one that is listed refers to. */
function listReachable(
  all: readonly DeclarationReflection[],
  exported: ReadonlySet<string>,
  serializer: Serializer,
): Set<DeclarationReflection> {
  const byId = new Map(all.map((each) => [Number(each.id), each]))
  const reached = new Set(all.filter(({ name }) => exported.has(name)))
  for (const each of reached) {
    for (const id of listTargets(each, serializer)) {
      const target = byId.get(id)
      if (target) reached.add(target)
    }
  }
  return reached
}

function listTargets(reflection: DeclarationReflection, serializer: Serializer): number[] {
  const isShown = ({ name }: DeclarationReflection) => name !== 'constructor' && !name.startsWith('#')
  const { children, ...rest } = serializer.toObject(reflection)
  const shown = reflection.children?.filter(isShown).map((child) => serializer.toObject(child)) ?? []
  const text = JSON.stringify([reflection.children ? shown : rest, rest.type, rest.signatures])
  return [...text.matchAll(/"target":(\d+)/g)].map(([, id]) => Number(id))
}

/** Without the spaces that end lines, and anchors that no link leads to. */
function tidy(file: string): void {
  const text = readFileSync(file, 'utf8')
  const withoutAnchors = text.replace(/<a id="([^"]*)"><\/a> /g, (anchor, id) =>
    text.includes(`(#${id})`) ? anchor : '',
  )
  writeFileSync(file, `${withoutAnchors.replace(/[ \t]+$/gm, '').trimEnd()}\n`)
}

if (import.meta.main) await writeApi(join(ROOT, 'docs/api'))
