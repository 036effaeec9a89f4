import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { UpshotError } from '../core/errors.ts'
import type { AnyWorkflow } from '../core/workflow.ts'
import { importFresh } from './import-fresh.ts'

/** An author's module: its workflow, or why it has none. */
export type LoadedModule =
  | { kind: 'loaded'; file: string; workflow: AnyWorkflow }
  | { kind: 'broken'; file: string; error: unknown }

/**
 * Imports every `*.workflow.ts` (or `.js`) of a folder, by name. A module that is broken takes no other down; two
 * modules with one id are refused, because nobody could tell whose runs are whose. A `version` loads them anew.
 */
export async function loadWorkflows(folder: string, version: string | null = null): Promise<LoadedModule[]> {
  const files = (await readFolder(folder)).filter((file) => /\.workflow\.[jt]s$/.test(file)).sort()
  const modules = await Promise.all(files.map((file) => loadModule(folder, file, version)))
  refuseDuplicates(modules)
  return modules
}

async function readFolder(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (cause) {
    throw new UpshotError(
      'invalid_config',
      `The workflows folder ${folder} cannot be read. Make it, or set UPSHOT_WORKFLOWS_DIR.`,
      { cause },
    )
  }
}

async function loadModule(folder: string, file: string, version: string | null): Promise<LoadedModule> {
  try {
    const url = pathToFileURL(join(folder, file)).href
    const { default: workflow } = await (version === null ? import(url) : importFresh(url, version))
    return { kind: 'loaded', file, workflow: requireWorkflow(workflow, file) }
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
