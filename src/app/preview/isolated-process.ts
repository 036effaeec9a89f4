import type { Failure } from '../../core/errors.ts'
import type { EventRecord } from '../../core/incoming/event.ts'
import type { WorkflowMatch } from '../../core/incoming/event-match.ts'
import type { JsonValue } from '../../core/json.ts'
import type { Checkpoint } from '../../core/runs/step.ts'
import type { Starts } from '../../core/safety/differences.ts'
import type { GuardPolicy, WorkflowLimits } from '../../core/safety/guard.ts'
import { DEFAULT_ACCOUNT } from '../../core/service/account.ts'
import type { StorageSpellings } from '../../core/service/storage.ts'
import type { ReadStore } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import type { UndeclaredEffect } from '../../engine/pass/outside/undeclared.ts'
import type { PreviewRules, RecordedRun } from '../../engine/preview/preview-run.ts'
import type { Previewed } from '../../engine/preview/previewed.ts'
import { openEnvironment } from '../../project/config/environment.ts'
import type { Config } from '../../project/config/load-config.ts'
import { besides, Child, importFirst, loadInChild, NO_REACH } from './child/child.ts'
import { borrowResult } from './plan-event.ts'
import type { ReadFiles } from './planned-files.ts'

/** The project, as an isolated process is told of it. It gets no key and no address. */
export interface IsolatedSettings {
  workflowsDir: string
  guard: GuardPolicy
  /** Most steps of a run whose workflow sets no limit. Default 100,000. */
  maxSteps?: number
  /** How the service spells the storages, by account. */
  spellings: Record<string, StorageSpellings>
  /** Whether steps that read may send what cannot be judged, such as a POST. Default false. */
  trustsReads?: boolean
}

export interface LoadedCode {
  /** `guard`: the bounds that a workflow sets for itself. */
  workflows: {
    id: string
    file: string
    codeHash: string
    guard: WorkflowLimits | undefined
    /** JSON Schema of a callable one; null for any other. */
    input: JsonValue
    starts: Starts
  }[]
  broken: { file: string; error: Failure }[]
}

/** A run to preview; twice, to see whether it is steady. */
export interface PreviewJob extends RecordedRun {
  isTwice?: boolean
}

/** A run that was previewed, with the calls of its code that were refused. */
export interface PreviewedJob extends Previewed {
  /** False where two previews of it differ. */
  isSteady: boolean
  undeclared: UndeclaredEffect[]
}

interface IsolatedParts {
  settings: IsolatedSettings
  store: Pick<ReadStore, 'listDeletes' | 'listRunEvents' | 'readOutput' | 'listRuns' | 'listSteps'>
  /** Reads the service for plans. Default: no preview may. */
  readFiles?: ReadFiles
  /** Tells how long an answer takes. Default: that of the machine. */
  clock?: Clock
  /** Variables that it does not get, beside ours and those of the service. Default: none. */
  secretVariables?: readonly string[]
  /** Gets what the author's code prints. */
  onPrint?: (text: string) => void
  /** Longest time without an answer before it counts as hanging. Default 30 s. */
  patienceMs?: number
  /** Ends it, also while code is in a loop. */
  signal?: AbortSignal
}

const PATIENCE_MS = 30_000

/**
 * A process in which author's code has no reach: it runs without keys, and every way out is closed.
 * A seat belt, no jail. See decision 71.
 */
export class IsolatedProcess implements AsyncDisposable {
  readonly code: LoadedCode
  readonly settings: IsolatedSettings
  readonly #child: Child

  /** Starts the process and loads the project's workflows there. */
  static async open(parts: IsolatedParts): Promise<IsolatedProcess> {
    const { settings } = parts
    const { child, loaded } = await loadInChild(
      () => begin(parts),
      (opened, skipped) => opened.call<LoadedCode>('load', settings, skipped),
    )
    return new IsolatedProcess(child, settings, loaded)
  }

  private constructor(child: Child, settings: IsolatedSettings, code: LoadedCode) {
    this.#child = child
    this.settings = settings
    this.code = code
  }

  /**
   * Previews runs, in the order of the jobs: a message and a turn of the loop serve them all.
   * Throws
   * `not_found` without the workflow of one. Only plans have steps without effects, and log lines.
   */
  preview(jobs: readonly PreviewJob[], rules: PreviewRules): Promise<PreviewedJob[]> {
    return this.#child.call('preview', jobs, rules)
  }

  async previewOne(job: PreviewJob, rules: PreviewRules): Promise<PreviewedJob> {
    const [previewed] = await this.preview([job], rules)
    if (previewed === undefined) throw new Error('An isolated process previews each job.')
    return previewed
  }

  /** Asks the workflows of this isolated process about an event, and starts nothing. */
  match(event: EventRecord, now: number): Promise<WorkflowMatch[]> {
    return this.#child.call('match', event, now)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#child[Symbol.asyncDispose]()
  }
}

function begin({ settings, store, readFiles = refuseFiles, ...parts }: IsolatedParts): Child {
  const { onPrint = () => {}, patienceMs = PATIENCE_MS, clock, signal, secretVariables = [] } = parts
  const { listDeletes, listRunEvents, readOutput } = store
  return new Child({
    name: 'The process that previews workflows',
    entry: besides(import.meta.url, 'isolated-main'),
    execArgv: [
      ...NO_REACH,
      // A small young generation saves 100 MB.
      '--max-semi-space-size=8',
      ...importFirst(besides(import.meta.url, 'hooks/isolation-hooks')),
    ],
    env: isolatedEnvironment(secretVariables),
    handlers: {
      listDeletes,
      listRunEvents,
      readOutput,
      readFiles,
      borrow: (workflow: string, step: Checkpoint) => borrowResult(store, workflow, step),
    },
    output: onPrint,
    patienceMs,
    signal,
    ...(clock && { clock }),
  })
}

/** Why there is no such workflow, in words. */
export function describeMissing(workflow: string, { broken }: Pick<LoadedCode, 'broken'>): string {
  const faults = broken.map(({ file, error }) => `${file} cannot be loaded (${error.message})`)
  return [`no module defines the workflow "${workflow}"`, ...faults].join('; ')
}

async function refuseFiles(): Promise<never> {
  throw new Error('This isolated process has no Files client.')
}

/**
 * Neither the service's keys, nor our own, nor options that open what the isolated process closes.
 */
export function isolatedEnvironment(secret: readonly string[] = []): NodeJS.ProcessEnv {
  const closed = /^(SERVICE_|UPSHOT_|NODE_(?!COMPILE_CACHE))/
  const isOpen = ([name]: [string, unknown]) => !closed.test(name) && !secret.includes(name)
  return Object.fromEntries(Object.entries(openEnvironment()).filter(isOpen))
}

/** By default the code, and the trust in its reads, are those of the project. */
interface Wanted
  extends Omit<IsolatedParts, 'settings' | 'store'>,
    Partial<Pick<IsolatedSettings, 'workflowsDir' | 'trustsReads'>> {
  /** How the service spells the storages of the default account. Default: as configured. */
  own?: StorageSpellings
}

/** The settings that an isolated process needs. None is a secret. */
interface IsolatedConfig
  extends Pick<Config, 'workflowsDir' | 'guardPolicy' | 'trustsReads' | 'limits' | 'secretVariables'> {
  service?: { kind: 'sandbox' } | { kind: 'real'; storages: StorageSpellings }
}

/** Opens an isolated process with the project's code, limits and names of storages. */
export async function openIsolated(
  store: Pick<ReadStore, 'listDeletes' | 'listRunEvents' | 'readOutput' | 'listRuns' | 'listSteps' | 'listAccounts'>,
  config: IsolatedConfig,
  {
    workflowsDir = config.workflowsDir,
    trustsReads = config.trustsReads ?? false,
    own = spell(config),
    ...wanted
  }: Wanted,
): Promise<IsolatedProcess> {
  const named = (await store.listAccounts()).map(({ name, storages }) => [name, storages] as const)
  const spellings = { [DEFAULT_ACCOUNT]: own, ...Object.fromEntries(named) }
  const { guardPolicy: guard, limits, secretVariables = [] } = config
  const settings: Required<IsolatedSettings> = { workflowsDir, trustsReads, guard, maxSteps: limits.steps, spellings }
  return IsolatedProcess.open({ settings, store, secretVariables, ...wanted })
}

function spell({ service }: Pick<IsolatedConfig, 'service'>): StorageSpellings {
  return service?.kind === 'real' ? service.storages : {}
}
