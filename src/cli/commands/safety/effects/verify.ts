import { resolve } from 'node:path'
import type { Command } from '@commander-js/extra-typings'
import type { LedgerReport } from '../../../../core/safety/ledger/verify-ledger.ts'
import { isoTime, withIsoTimes } from '../../../../core/time.ts'
import { loadAnchors } from '../../../../project/data-dir/anchor-file.ts'
import { verifyLedger } from '../../../../project/data-dir/maintain-database.ts'
import type { Cli } from '../../../command.ts'
import { commandClock } from '../../../open/command-clock.ts'
import { requireDatabase } from '../../../open/open-project.ts'
import { formatMoment, formatText } from '../../../terminal/format-value.ts'

/** `upshot effects verify`: follows the chain over the ledger; exits with 7 on a break. */
export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('[file]', 'path of a backup (default: the database of this project)')
    .option('--anchors <file>', 'anchors, or a log that holds them (default: the file in UPSHOT_ANCHOR_FILE)')
    .action(async (file, { anchors }) => {
      const config = await project.load()
      const database = file === undefined ? await requireDatabase(config) : resolve(file)
      const anchorFile = anchors === undefined ? (config.anchorFile ?? null) : resolve(anchors)
      const known = anchorFile === null ? [] : loadAnchors(anchorFile)
      const report = await verifyLedger(config, database, known)
      const { anchored, restored, ...rest } = report
      out.result(
        {
          ...rest,
          anchors: known.length,
          anchored: anchored === null ? null : withIsoTimes(anchored),
          restored: restored.map(withIsoTimes),
        },
        () => describe(report, known.length, commandClock.now()),
      )
      if (report.passed) return
      out.leaveWith('difference')
      out.note('If you restored a backup, say so: upshot effects restored --reason "…". Otherwise copy the data')
      out.note('directory, and compare the rows with an export: upshot effects export.')
    })
}

function describe(report: LedgerReport, anchors: number, now: number): string[] {
  const { passed, effects, sealed, seals, prunedTo, anchored, sinceAnchor, restored, faults, faultCount } = report
  const unsealed = effects - sealed
  const rows = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'}`
  return [
    `${rows(sealed)} in ${seals.toLocaleString('en')} seals: ${passed ? 'unbroken' : 'BROKEN'}`,
    ...(prunedTo === 0 ? [] : [`rows up to ${prunedTo} were removed by retention`]),
    anchored === null
      ? `no anchor${anchors === 0 ? ' was given' : ` of ${anchors} fits`}: an end that was cut off cannot be seen`
      : `anchored up to row ${anchored.last} (${formatMoment(anchored.at, now)}); ${rows(sinceAnchor)} sealed since`,
    ...(unsealed === 0 ? [] : [`${rows(unsealed)} have no seal yet`]),
    ...(report.erased === 0 ? [] : [`people erased text of ${rows(report.erased)}; the rest is as it was sealed`]),
    ...describeWords(report),
    ...describeGrants(report),
    ...restored.map(({ at, note }) => `restored from a backup ${isoTime(at)}, ${formatText(note, 200)}`),
    ...faults.map((fault) => `✗ ${fault}`),
    ...(faultCount > faults.length ? [`✗ and ${faultCount - faults.length} more`] : []),
  ]
}

/** The effects that began by words of people, with and without a signature. */
function describeGrants({ granted, grantedUnsigned: unsigned }: LedgerReport): string[] {
  const effects = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'effect' : 'effects'}`
  const signed = granted - unsigned
  return [
    ...(signed === 0 ? [] : [`${effects(signed)} began by signed words`]),
    ...(unsigned === 0
      ? []
      : [`${effects(unsigned)} began by words that nobody signed: whoever writes the database can make those`]),
  ]
}

function describeWords({ words, signedWords, signers }: LedgerReport): string[] {
  if (words === 0) return []
  const signed = signedWords === 0 ? 'none signed' : `${signedWords.toLocaleString('en')} with a good signature`
  return [
    `${words.toLocaleString('en')} ${words === 1 ? 'word' : 'words'} of people: ${signed}`,
    ...signers.map(({ name, key, words: count }) => `  ${name} signed ${count.toLocaleString('en')} with ${key}`),
  ]
}
