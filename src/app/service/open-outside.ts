import { keepVariables } from '../../core/access/upshot-variables.ts'
import { UpshotError } from '../../core/errors.ts'
import type { Store } from '../../core/store/store.ts'
import type { Clock } from '../../core/time.ts'
import { Outside } from '../../engine/pass/outside/outside.ts'
import { currentPass } from '../../engine/pass/scope.ts'
import type { NoticeBus } from '../../notices/notice-bus.ts'
import { hiddenVariables } from '../../project/config/environment.ts'
import type { Config } from '../../project/config/load-config.ts'

interface OutsideParts {
  config: Required<Pick<Config, 'outside' | 'watchEffects'>>
  store: Pick<Store, 'noteOutside'>
  clock: Pick<Clock, 'now'>
  notices: NoticeBus
}

/** The watch of an engine's thread, which gives keys to the workflows that the project names. */
export function openOutside({ config, store, clock, notices }: OutsideParts): Outside {
  const { keys, processes } = config.outside
  keepVariables(() => giveVariables(keys))
  return new Outside({ store, clock, publish: notices.publish, processes, tells: config.watchEffects })
}

/** Ends the answers of an engine: what runs in its thread after it has no keys. */
export function closeOutside(): void {
  keepVariables(() => ({}))
}

function giveVariables(keys: readonly string[]): Readonly<Record<string, string>> {
  const workflow = currentPass()?.run.workflow
  if (workflow !== undefined && keys.includes(workflow)) return hiddenVariables()
  const who = workflow === undefined ? 'Code outside of runs' : `The workflow "${workflow}"`
  const fix =
    workflow === undefined
      ? 'Call it in the function of a workflow, and name that in `outside.keys` of the project file.'
      : `If it needs them, add it to the project file: outside: { keys: ['${workflow}'] }.`
  throw new UpshotError('forbidden', `${who} calls upshotVariables(), which gives the keys of this app. ${fix}`)
}
