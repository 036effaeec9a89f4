import type { Command } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { UpshotError } from '../../../core/errors.ts'
import { type RefusalTally, VERDICTS, type Verdict } from '../../../core/incoming/delivery.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import type { Cli } from '../../command.ts'
import { countUpTo, parseSince } from '../../input/parse-option.ts'
import { commandClock } from '../../open/command-clock.ts'
import { withIsoTimes } from '../../terminal/format-value.ts'
import { formatTable } from '../../terminal/table.ts'
import { deliveryColumns, nameDeliveries } from './delivery-view.ts'

const ALL = Object.keys(VERDICTS) as Verdict[]

/** `upshot deliveries list`: the newest deliveries first. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .option('--limit <n>', 'maximum number of deliveries, 1 to 10000', countUpTo(10_000), 20)
    .option(
      '--verdict <verdicts>',
      `only these verdicts, separated by commas: ${ALL.join(', ')}, or refused`,
      parseVerdicts,
    )
    .option('--endpoint <name>', 'only deliveries to this endpoint')
    .option(
      '--since <time>',
      'only deliveries since then: a duration before now, such as 24h, or an ISO 8601 time',
      parseSince,
    )
    .action(({ limit, verdict, endpoint, since }) =>
      project.withLists(async (store) => {
        const found = await store.listDeliveries({
          limit,
          ...(verdict === undefined ? {} : { verdicts: verdict }),
          ...(endpoint === undefined ? {} : { endpointId: await findEndpointId(store, endpoint) }),
          ...(since === undefined ? {} : { since: since(commandClock.now()) }),
        })
        const deliveries = await nameDeliveries(store, found)
        out.result(deliveries.map(withIsoTimes), () =>
          formatTable(deliveries, deliveryColumns(commandClock.now()), out),
        )
        const isFiltered = verdict !== undefined || endpoint !== undefined || since !== undefined
        if (deliveries.length === 0) out.note(isFiltered ? 'No delivery matches.' : NONE)
        // Dropped refusals are counted by verdict only.
        const isOfAll = verdict !== undefined && endpoint === undefined && since === undefined
        const unlisted = isOfAll ? describeUnlisted(await store.tallyRefusals(), verdict) : null
        if (unlisted !== null) out.note(unlisted)
      }),
    )
}

const NONE =
  'No delivery yet. Register the URL of "upshot endpoints list" at the service, or use "upshot trigger file.created".'

/** Counts the refusals without a row: dropped in a flood, or pruned. Null if there are none. */
function describeUnlisted(tally: readonly RefusalTally[], verdicts: readonly Verdict[]): string | null {
  const gone = tally.filter(({ verdict, dropped }) => dropped > 0 && verdicts.includes(verdict))
  const counts = gone.map(({ verdict, dropped }) => `${dropped.toLocaleString('en')} ${verdict}`)
  return gone.length === 0 ? null : `Not listed, because their rows were dropped or pruned: ${counts.join(', ')}.`
}

function parseVerdicts(text: string): Verdict[] {
  const words = text.split(',').map((word) => word.trim())
  const verdicts = words.flatMap((word) => (word === 'refused' ? REFUSED : ALL.filter((verdict) => verdict === word)))
  if (words.every((word) => word === 'refused' || ALL.some((verdict) => verdict === word))) return verdicts
  throw new InvalidArgumentError(
    `Give some of ${ALL.join(', ')}, or refused for every verdict that is not answered with 200.`,
  )
}

const REFUSED = ALL.filter((verdict) => VERDICTS[verdict].status !== 200 && verdict !== 'probe')

/** The endpoint with this id, or with this name now, else the last removed one that had it. */
async function findEndpointId(store: ReadStore, name: string): Promise<string> {
  const endpoints = (await store.listEndpointNames()).filter(
    (endpoint) => endpoint.name === name || endpoint.id === name,
  )
  const found = endpoints.find(({ removedAt }) => removedAt === null) ?? endpoints.at(-1)
  if (found) return found.id
  throw new UpshotError('not_found', `There is no endpoint named "${name}", not even a removed one.`, {
    details: { fix: 'List the endpoints with "upshot endpoints list".' },
  })
}
