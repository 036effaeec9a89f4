import { type Command, Option } from '@commander-js/extra-typings'
import { countUpTo, gather, parseSince } from '../../../input/parse-option.ts'
import { FAIL_ON, parseShare, REQUIRE } from './judge-backtest.ts'

export type BacktestOptions = ReturnType<ReturnType<typeof addBacktestOptions>['opts']>

/** Adds them in the groups of the help: which runs, against what, answers, verdict. */
export function addBacktestOptions(command: Command) {
  return command
    .argument('[workflow]', 'id of the workflow; --unfinished and --from can do without')
    .optionsGroup('Which runs (default: recorded ones that have ended):')
    .option('--since <when>', 'only runs created since then, such as 30d (default: 7d)', parseSince)
    .option('--until <when>', 'only runs created before then', parseSince)
    .option('--type <type>', 'only runs of events of this type')
    .option('--account <name>', 'only runs of this account')
    .option('--sample <n>', 'so many runs, spread over all of them', countUpTo(100_000))
    .option('--limit <n>', 'the newest so many runs', countUpTo(100_000_000))
    .option('--from <file>', 'the runs of this file of --save, without a database')
    .option('--unfinished', 'runs that have begun and not ended: would they go on with this code?')
    .optionsGroup('Against what (default: what the runs did):')
    .option('--workflows <folder>', 'the folder of the code (default: that of the project)')
    .option('--code <module>', 'the code of this module alone')
    .option('--shadow', 'the code of the shadow beside the module, such as workflows/tidy.shadow.ts')
    .option('--against <code>', 'compare with this code on the same answers: a commit, a module or a folder')
    .optionsGroup('Answers (default: what each run has recorded):')
    .addOption(
      new Option('--reads <where>', 'where no run has recorded a read: the preview ends, or the service is asked')
        .choices(['recorded', 'live'] as const)
        .default('recorded' as const),
    )
    .option(
      '--trust-reads',
      'let steps with effect "read" that are called send anything, such as a POST that only asks',
    )
    .option('--fixtures <file>', 'JSON with the results of steps that no run has recorded, by name or key')
    .option('--rerun <step>', 'call the function of this reading step again; may be repeated', gather)
    .optionsGroup('Verdict:')
    .option('--outputs', 'compare the results of runs as well')
    .addOption(new Option('--fail-on <what>', 'differences that exit with 7').choices(FAIL_ON).default('any' as const))
    .option('--require <share>', REQUIRE, parseShare)
    .option(
      '--accept',
      'keep these differences in workflows/backtest/<workflow>.json or beside the file, and fail on others only',
    )
    .option('--markdown <file>', 'also write a report for a comment on a pull request')
    .option('--save <file>', 'compare nothing: write the runs with other words to this file, for --from')
    .option('--keep <words>', 'with --save: words that are no secret and stay; may be repeated', gather)
}
