import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf, CallOptions } from '../../../../admin/client/index.ts'
import { type Anchor, readAnchors } from '../../../../core/safety/ledger/anchor.ts'
import type { LedgerCheck } from '../../../../core/safety/ledger/verify-ledger.ts'
import { withIsoTimes } from '../../../../core/time.ts'
import type { Config } from '../../../../project/config/load-config.ts'
import { loadAnchors } from '../../../../project/data-dir/anchor-file.ts'
import { verifyLedger } from '../../../../project/data-dir/maintain-database.ts'
import type { Cli } from '../../../command.ts'
import { readStdin } from '../../../input/read-source.ts'
import { type Project, requireDatabase } from '../../../open/open-project.ts'
import { call } from '../../../open/operations.ts'
import { formatMoment, formatText } from '../../../terminal/format-value.ts'
import { showWork } from '../../../terminal/progress.ts'

type Report = AnswerOf<'POST /effects/verify'>

/** `upshot effects verify`: follows the chain over the ledger; exits with 7 on a break. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('[file]', 'path of a backup (default: the database of this project)')
    .option('--anchors <file>', 'anchors, or a log that holds them, or - (default: the file in UPSHOT_ANCHOR_FILE)')
    .action(async (file, { anchors: from }) => {
      using work = showWork(out, 'Rows verified')
      const anchors = from === undefined ? null : await readAnchorsOf(from)
      const report = await ((await project.isFar()) && file === undefined
        ? verifyFar(project, anchors, work)
        : verifyHere(await project.load(), file, { anchors, ...work }))
      out.result(report, () => describe(report))
      if (report.passed) return
      out.leaveWith('difference')
      out.note('If you restored a backup, say so: upshot effects restored --reason "…". Otherwise copy the data')
      out.note('directory, and compare the rows with an export: upshot effects export.')
    })
}

/** Those of a file, or of standard input. */
async function readAnchorsOf(from: string): Promise<Anchor[]> {
  return from === '-' ? readAnchors(await readStdin('anchors')) : loadAnchors(resolve(from))
}

function verifyFar(project: Project, anchors: readonly Anchor[] | null, work: CallOptions): Promise<Report> {
  const body = anchors === null ? {} : { anchors: anchors.map(withIsoTimes) }
  return project.withOperations((far) => call(far, 'POST /effects/verify', { body }, work))
}

async function verifyHere(
  config: Config,
  file: string | undefined,
  { anchors, onProgress }: { anchors: readonly Anchor[] | null; onProgress: LedgerCheck['onProgress'] },
): Promise<Report> {
  if (file === undefined && !config.database) await requireDatabase(config)
  const known = anchors ?? (config.anchorFile ? loadAnchors(config.anchorFile) : [])
  const found = await verifyLedger(config, file && resolve(file), { anchors: known, onProgress })
  const anchored = found.anchored && withIsoTimes(found.anchored)
  return { ...found, anchors: known.length, anchored, restored: found.restored.map(withIsoTimes) }
}

function describe(report: Report): string[] {
  const { passed, effects, sealed, seals, prunedTo, anchors, anchored, sinceAnchor } = report
  const { restored, faults, faultCount } = report
  const unsealed = effects - sealed
  const rows = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'}`
  return [
    `${rows(sealed)} in ${seals.toLocaleString('en')} seals: ${passed ? 'unbroken' : 'BROKEN'}`,
    ...(prunedTo === 0 ? [] : [`rows up to ${prunedTo} were removed by retention`]),
    anchored === null
      ? `no anchor${anchors === 0 ? ' was given' : ` of ${anchors} fits`}: an end that was cut off cannot be seen`
      : `anchored up to row ${anchored.last} (${formatMoment(anchored.at)}); ${rows(sinceAnchor)} sealed since`,
    ...(unsealed === 0 ? [] : [`${rows(unsealed)} without a seal yet`]),
    ...(report.erased === 0 ? [] : [`people erased text of ${rows(report.erased)}; the rest is as it was sealed`]),
    ...describeWords(report),
    ...describeGrants(report),
    ...restored.map(({ at, note }) => `restored from a backup ${at}, ${formatText(note, 200)}`),
    ...faults.map((fault) => `✗ ${fault}`),
    ...(faultCount > faults.length ? [`✗ and ${faultCount - faults.length} more`] : []),
  ]
}

/** The effects that began by words of people, with and without a signature. */
function describeGrants({ granted, grantedUnsigned: unsigned }: Report): string[] {
  const effects = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'effect' : 'effects'}`
  const signed = granted - unsigned
  return [
    ...(signed === 0 ? [] : [`${effects(signed)} began with signed decisions`]),
    ...(unsigned === 0
      ? []
      : [`${effects(unsigned)} began with unsigned decisions, which whoever writes the database can forge`]),
  ]
}

function describeWords({ words, signedWords, signers }: Report): string[] {
  if (words === 0) return []
  const signed = signedWords === 0 ? 'none signed' : `${signedWords.toLocaleString('en')} with a good signature`
  return [
    `${words.toLocaleString('en')} ${words === 1 ? 'decision' : 'decisions'} of people: ${signed}`,
    ...signers.map(({ name, key, words: count }) => `  ${name} signed ${count.toLocaleString('en')} with ${key}`),
  ]
}
