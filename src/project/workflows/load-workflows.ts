import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type DeclaredKeys, declaredKeys, findClash } from '../../author/event-keys.ts'
import type { AnyWorkflow } from '../../author/workflow.ts'
import { UpshotError } from '../../core/errors.ts'
import { hashModule } from './hash-module.ts'
import { importFresh } from './import-fresh.ts'

/** An author's module: its workflow, or the reason that it has none. */
export type LoadedModule =
  | { kind: 'loaded'; file: string; workflow: AnyWorkflow }
  | { kind: 'broken'; file: string; error: unknown }

/**
 * Imports every `*.workflow.ts` or `.js` of a folder, sorted by name; a new `version` loads them
 * again. Throws `invalid_workflow` where two modules have one id; other faults stay with their
 * module.
 */
export async function loadWorkflows(folder: string, version: string | null = null): Promise<LoadedModule[]> {
  const files = (await readFolder(folder)).filter((file) => /\.workflow\.[jt]s$/.test(file)).sort()
  // One by one, so that each declared key belongs to a known module.
  const modules: LoadedModule[] = []
  const declared: DeclaredKeys[] = []
  for (const file of files) modules.push(await loadDeclaring({ folder, file, version }, declared))
  refuseDuplicates(modules)
  return modules
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

interface ModuleSource {
  folder: string
  file: string
  /** Null: the module as it was loaded first. */
  version: string | null
}

/** A module that declares a known key with another function is broken; its keys are dropped. */
async function loadDeclaring(source: ModuleSource, declared: DeclaredKeys[]): Promise<LoadedModule> {
  const { file } = source
  const before = declaredKeys.snapshot()
  const module = await loadModule(source)
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

async function loadModule({ folder, file, version }: ModuleSource): Promise<LoadedModule> {
  try {
    const url = pathToFileURL(join(folder, file)).href
    const { default: workflow } = await (version === null ? import(url) : importFresh(url, version))
    const codeHash = await hashModule(join(folder, file))
    return { kind: 'loaded', file, workflow: { ...requireWorkflow(workflow, file), codeHash } }
  } catch (error) {
    return { kind: 'broken', file, error }
  }
}

function requireWorkflow(value: unknown, file: string): AnyWorkflow {
  if (typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'workflow')
    return value as AnyWorkflow
  throw new UpshotError('invalid_workflow', `${file} has no workflow: write "export default defineWorkflow({ … })".`)
}

function refuseDuplicates(modules: readonly LoadedModule[]): void {
  const files = Map.groupBy(
    modules.filter((module) => module.kind === 'loaded'),
    (module) => module.workflow.id,
  )
  for (const [id, same] of files) {
    if (same.length === 1) continue
    const names = same.map((module) => module.file).join(' and ')
    throw new UpshotError('invalid_workflow', `${names} both define the workflow "${id}". Rename one of them.`)
  }
}
