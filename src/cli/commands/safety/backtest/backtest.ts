import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Command, Option } from '@commander-js/extra-typings'
import type { RunChoice } from '../../../../app/backtest/read-cases.ts'
import type { PlayRules } from '../../../../app/play/play-job.ts'
import type { Room } from '../../../../app/play/room.ts'
import { UpshotError } from '../../../../core/errors.ts'
import { isPlainObject, type JsonValue } from '../../../../core/json.ts'
import type { ReadStore } from '../../../../core/store/store.ts'
import { systemClock } from '../../../../core/time.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import type { Cli } from '../../../command.ts'
import { countUpTo, gather, parseSince } from '../../../input/parse-option.ts'
import { formatFailure } from '../../../terminal/format-value.ts'
import { showProgress } from '../../../terminal/progress.ts'
import { openLiveReads } from '../open-live-reads.ts'
import { formatBacktest } from './backtest-view.ts'
import { FAIL_ON, judgeBacktest } from './judge-backtest.ts'

const WEEK_MS = 7 * 86_400_000

/** `upshot backtest <workflow>`: what its code would do otherwise than recorded runs did. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<workflow>', 'id of the workflow')
    .option('--since <when>', 'only runs created since then, such as 30d (default: 7d)', parseSince)
    .option('--until <when>', 'only runs created before then', parseSince)
    .option('--type <type>', 'only runs of events of this type')
    .option('--account <name>', 'only runs of this account')
    .option('--sample <n>', 'so many runs, spread over all of them', countUpTo(100_000))
    .option('--limit <n>', 'the newest so many runs', countUpTo(100_000_000))
    .option('--workflows <folder>', 'the folder of the code (default: that of the project)')
    .option('--outputs', 'compare the results of runs as well')
    .addOption(
      new Option('--reads <where>', 'reads that no run has recorded: end the play, or are made (default: recorded)')
        .choices(['recorded', 'live'] as const)
        .default('recorded' as const),
    )
    .option('--fixtures <file>', 'JSON with the results of steps that no run has recorded, by name or key')
    .option('--rerun <step>', 'call the function of this reading step again; may be repeated', gather, [])
    .addOption(new Option('--fail-on <what>', 'differences that exit with 7 (default: any)').choices(FAIL_ON))
    .option('--require <share>', 'share of runs about which something must be said, such as 0.9', parseShare)
    .action((workflow, options) =>
      project.withReads(async (store, config) => {
        const { reads, fixtures, rerun, outputs = false, workflows, failOn = 'any', require = 0, ...chosen } = options
        const rules: PlayRules = {
          ...{ readsLive: reads === 'live', rerun },
          fixtures: fixtures === undefined ? {} : readFixtures(fixtures),
        }
        const { backtest } = await import('../../../../app/backtest/backtest.ts')
        const { readCases } = await import('../../../../app/backtest/read-cases.ts')
        await using live = rules.readsLive ? await openLiveReads(config) : null
        await using room = await openCode(out, { store, config, workflow, workflows, readFiles: live?.readFiles })
        using progress = showProgress(out, { title: 'Runs played', total: null, unit: 'count' })
        const found = await backtest(readCases(store, toChoice(workflow, chosen), { withOutputs: outputs }), {
          ...{ workflow, room, against: null, rules, withOutputs: outputs },
          onPlayed: (count) => progress.set(count),
        })
        progress.end()
        const candidate = room.code.workflows.find(({ id }) => id === workflow)?.codeHash ?? null
        const about = { workflow, candidate, against: 'recorded' }
        out.result({ ...about, ...found }, () => formatBacktest(found, about, out))
        const verdict = judgeBacktest(found, { failOn, required: require, isThrottled: live?.isThrottled() ?? false })
        for (const note of verdict.notes) out.note(note)
        if (verdict.exit !== null) out.leaveWith(verdict.exit)
      }),
    )
}

/** Opens a room, and throws `not_found` where its code has no such workflow. */
async function openCode(
  out: Cli['out'],
  {
    store,
    config,
    workflow,
    workflows,
    readFiles,
  }: {
    store: ReadStore
    config: Config
    workflow: string
    workflows: string | undefined
    readFiles: Parameters<typeof Room.open>[0]['readFiles']
  },
): Promise<Room> {
  const { openRoom } = await import('../../../../app/play/open-room.ts')
  const room = await openRoom(store, config, {
    onPrint: (text) => out.detail(text.trimEnd()),
    ...(readFiles === undefined ? {} : { readFiles }),
    ...(workflows === undefined ? {} : { workflowsDir: resolve(workflows) }),
  })
  const { broken, workflows: found } = room.code
  for (const { file, error } of broken) out.note(`${file} cannot be loaded: ${formatFailure(error)}`)
  if (found.some(({ id }) => id === workflow)) return room
  await room[Symbol.asyncDispose]()
  throw new UpshotError('not_found', `No module of ${room.settings.workflowsDir} defines the workflow "${workflow}".`, {
    details: { fix: 'Find its id with "upshot workflows list", or correct the module that cannot be loaded.' },
  })
}

function toChoice(
  workflow: string,
  {
    since = systemClock.now() - WEEK_MS,
    ...rest
  }: { [Name in keyof Omit<RunChoice, 'workflow'>]?: RunChoice[Name] | undefined },
): RunChoice {
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined))
  return { workflow, since, ...given }
}

function readFixtures(file: string): Record<string, JsonValue> {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (isPlainObject(found)) return found as Record<string, JsonValue>
    throw new Error('it is no object')
  } catch (error) {
    throw new UpshotError(
      'invalid_request',
      `${file} cannot be read as results of steps: ${(error as Error).message}.`,
      {
        details: { fix: 'Write a JSON object: { "name of the step": its result }.' },
      },
    )
  }
}

function parseShare(text: string): number {
  const share = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text)
  if (share >= 0 && share <= 1) return share
  throw new UpshotError('invalid_request', 'Give a share from 0 to 1, such as 0.9, or 90%.')
}
