import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type DeclaredKeys, declaredKeys, findClash } from '../../author/event-keys.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { MAX_LOAD_MS } from '../../core/blockage.ts'
import { UpshotError } from '../../core/errors.ts'
import { hashModule } from './hash-module.ts'
import { importFresh } from './import-fresh.ts'
import { Intrinsics } from './intrinsics.ts'

/** An author's module: its workflow, or the reason that it has none. */
export type LoadedModule =
  | { kind: 'loaded'; file: string; workflow: AnyWorkflow }
  | { kind: 'broken'; file: string; error: unknown }

/** A module that is left out, because it ended or blocked the thread that loaded it before. */
export interface SkippedModule {
  file: string
  /** Hash of its code: once that is another, it is loaded again. Null: not in this process. */
  code: string | null
  /** A clause. */
  why: string
}

export interface LoadOptions {
  /** A new one loads the modules again. Default: as they were loaded first. */
  version?: string | null
  skipped?: readonly SkippedModule[]
  /** Hears of the module that is loaded next, and of null once all are. */
  onLoading?: (module: Omit<SkippedModule, 'why'> | null) => void
  /** Hears of each module that was not loaded in its time. */
  onLate?: (module: SkippedModule) => void
  /** Longest time for one module. Default 10 s. */
  maxMs?: number
  /** True: a changed module is loaded again by itself. */
  isWatched?: boolean
}

/**
 * Imports every `*.workflow.ts` or `.js` of a folder, sorted by name. A fault stays with its
 * module: another does not hold it up, and two of one id are both broken.
 */
export async function loadWorkflows(folder: string, options: LoadOptions = {}): Promise<LoadedModule[]> {
  const files = await listModules(folder)
  // One by one, so that each declared key belongs to a known module.
  const modules: LoadedModule[] = []
  const declared: DeclaredKeys[] = []
  for (const file of files) modules.push(await loadDeclaring({ folder, file, ...options }, declared))
  options.onLoading?.(null)
  return breakDuplicates(modules)
}

export async function listModules(folder: string): Promise<string[]> {
  return (await readFolder(folder)).filter((file) => /\.workflow\.[jt]s$/.test(file)).sort()
}

async function readFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (cause) {
    throw new UpshotError(
      'invalid_config',
      `The workflows folder ${folder} cannot be read. Create it, or set UPSHOT_WORKFLOWS_DIR.`,
      { cause },
    )
  }
}

interface ModuleSource extends LoadOptions {
  folder: string
  file: string
}

/** A module that declares a known key with another function is broken; its keys are dropped. */
async function loadDeclaring(source: ModuleSource, declared: DeclaredKeys[]): Promise<LoadedModule> {
  const { file } = source
  const before = declaredKeys.snapshot()
  const intrinsics = new Intrinsics()
  const module = await loadModule(source)
  const replaced = intrinsics.restore()
  // Modules that were loaded before may have called it, so nothing of this thread is of use.
  if (replaced !== null) throw describeReplacing(file, replaced.name)
  const own = declaredKeys.declaredSince(before)
  const clash = declared.map((others) => findClash(own, others)).find((key) => key !== null)
  if (clash === undefined) {
    declared.push(own)
    return module
  }
  declaredKeys.restore(before)
  const [type, key] = clash.split(' ')
  const fault = `${file} and another module define the key "${key}" of ${type} differently.`
  const message = `${fault} Define it once and import it.`
  return { kind: 'broken', file, error: new UpshotError('invalid_workflow', message) }
}

function describeReplacing(file: string, name: string): UpshotError {
  const fault = `${file}, or a module that it imports, replaces ${name}, which the engine runs on.`
  return new UpshotError('invalid_workflow', `${fault} Call a function of your own instead.`)
}

async function loadModule({ folder, file, ...options }: ModuleSource): Promise<LoadedModule> {
  const { version = null, skipped = [], onLoading = () => {}, onLate = () => {}, maxMs = MAX_LOAD_MS } = options
  try {
    const url = pathToFileURL(join(folder, file)).href
    const code = await hashModule(join(folder, file))
    const known = skipped.find((module) => module.file === file && (module.code ?? code) === code)
    if (known) throw describeSkip(known.why)
    onLoading({ file, code })
    const importing: Promise<{ default?: unknown }> = version === null ? import(url) : importFresh(url, version)
    const imported = await inTime(importing, maxMs)
    if (imported === null) {
      const why = `it was not loaded within ${maxMs / 1_000} s`
      onLate({ file, code, why })
      throw describeSkip(why)
    }
    const { default: workflow } = imported
    return { kind: 'loaded', file, workflow: { ...requireWorkflow(workflow, file), codeHash: code } }
  } catch (error) {
    return { kind: 'broken', file, error }
  }
}

/** Null where it takes longer. */
async function inTime<T>(importing: Promise<T>, maxMs: number): Promise<T | null> {
  const late = Promise.withResolvers<null>()
  const timer = setTimeout(() => late.resolve(null), maxMs)
  try {
    return await Promise.race([importing, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The fault of a module that is left out. `why`: a clause. */
function describeSkip(why: string): UpshotError {
  const next = 'At the top level of a module, define things only: put what waits, loops or exits into a step.'
  return new UpshotError('invalid_workflow', `The module is skipped: ${why}. ${next}`)
}

function requireWorkflow(value: unknown, file: string): AnyWorkflow {
  if (typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'workflow')
    return value as AnyWorkflow
  throw new UpshotError('invalid_workflow', `${file} has no workflow: write "export default defineWorkflow({ … })".`)
}

/** Nobody knows which of the two is meant, so neither runs. */
function breakDuplicates(modules: readonly LoadedModule[]): LoadedModule[] {
  const files = Map.groupBy(
    modules.filter((module) => module.kind === 'loaded'),
    (module) => module.workflow.id,
  )
  return modules.map((module) => {
    const same = module.kind === 'loaded' ? (files.get(module.workflow.id) ?? []) : []
    if (module.kind === 'broken' || same.length === 1) return module
    const names = same.map(({ file }) => file).join(' and ')
    const fault = `${names} both define the workflow "${module.workflow.id}", so both are skipped.`
    return {
      kind: 'broken',
      file: module.file,
      error: new UpshotError('invalid_workflow', `${fault} Rename one of them.`),
    }
  })
}
