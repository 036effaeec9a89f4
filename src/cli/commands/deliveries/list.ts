import type { Command } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { UpshotError } from '../../../core/errors.ts'
import { type RefusalTally, VERDICTS, type Verdict } from '../../../core/incoming/delivery.ts'
import type { ReadStore } from '../../../core/store/store.ts'
import { systemClock } from '../../../core/time.ts'
import { countUpTo, parseSince } from '../../input/parse-option.ts'
import { withStore } from '../../open/open-project.ts'
import { withIsoTimes } from '../../terminal/format-value.ts'
import type { Output } from '../../terminal/output.ts'
import { formatTable } from '../../terminal/table.ts'
import { deliveryColumns, nameDeliveries } from './delivery-view.ts'

const ALL = Object.keys(VERDICTS) as Verdict[]

/** `upshot deliveries list`: newest first. */
export function define(command: Command, out: Output): void {
  command
    .option('--limit <n>', 'how many', countUpTo(10_000), 20)
    .option('--verdict <verdicts>', `only with these, joined by commas: ${ALL.join(', ')}, or refused`, parseVerdicts)
    .option('--endpoint <name>', 'only those of this endpoint')
    .option('--since <time>', 'only the last 30m, 24h or 7d, or since a moment (ISO 8601)', parseSince)
    .action(({ limit, verdict, endpoint, since }) =>
      withStore(async (store) => {
        const found = await store.listDeliveries({
          limit,
          ...(verdict === undefined ? {} : { verdicts: verdict }),
          ...(endpoint === undefined ? {} : { endpointId: await findEndpointId(store, endpoint) }),
          ...(since === undefined ? {} : { since }),
        })
        const deliveries = await nameDeliveries(store, found)
        out.result(deliveries.map(withIsoTimes), () =>
          formatTable(deliveries, deliveryColumns(systemClock.now()), out.paint),
        )
        const isFiltered = verdict !== undefined || endpoint !== undefined || since !== undefined
        if (deliveries.length === 0) out.note(isFiltered ? 'No such delivery.' : NONE)
        // Nobody counts them by endpoint or time.
        const isOfAll = verdict !== undefined && endpoint === undefined && since === undefined
        const unlisted = isOfAll ? describeUnlisted(await store.tallyRefusals(), verdict) : null
        if (unlisted !== null) out.note(unlisted)
      }),
    )
}

const NONE = 'No delivery yet. Register the address of "upshot endpoints list" at the service, or use "upshot trigger".'

/**
 * Refusals of which no row is left: those of a flood, which must not fill the disk, and old ones.
 * Null where there are none.
 */
function describeUnlisted(tally: readonly RefusalTally[], verdicts: readonly Verdict[]): string | null {
  const gone = tally.filter(({ verdict, dropped }) => dropped > 0 && verdicts.includes(verdict))
  const counts = gone.map(({ verdict, dropped }) => `${dropped.toLocaleString('en')} ${verdict}`)
  return gone.length === 0 ? null : `Without a row by now: ${counts.join(', ')}.`
}

function parseVerdicts(text: string): Verdict[] {
  const words = text.split(',').map((word) => word.trim())
  const verdicts = words.flatMap((word) => (word === 'refused' ? REFUSED : ALL.filter((verdict) => verdict === word)))
  if (words.every((word) => word === 'refused' || ALL.some((verdict) => verdict === word))) return verdicts
  throw new InvalidArgumentError(`They are ${ALL.join(', ')}, or refused for all that were not taken.`)
}

const REFUSED = ALL.filter((verdict) => VERDICTS[verdict].status !== 200)

/** The endpoint that has the name now, else the last one that had it. */
async function findEndpointId(store: ReadStore, name: string): Promise<string> {
  const endpoints = (await store.listEndpointNames()).filter((endpoint) => endpoint.name === name)
  const found = endpoints.find(({ removedAt }) => removedAt === null) ?? endpoints.at(-1)
  if (found) return found.id
  throw new UpshotError('not_found', `There is no endpoint named "${name}", and there was none.`, {
    details: { fix: 'See the endpoints with "upshot endpoints list".' },
  })
}
