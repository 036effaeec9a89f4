import type { Backtest } from '../../../../app/backtest/backtest.ts'
import { formatBytes, formatText } from '../../../terminal/format-value.ts'
import {
  type AboutBacktest,
  commandOf,
  describeSides,
  formatNumber,
  listFindings,
  listUncompared,
} from './backtest-view.ts'

/** Groups in a report: a comment of a pull request has an end. */
const SHOWN = 30
const SAMPLES = 10

/** A backtest as Markdown, for a comment on a pull request. */
export function writeMarkdown(found: Backtest, about: AboutBacktest): string {
  const { same, groups, cannotSay } = found
  return [
    `### Backtest of ${describeSides(found, about)}`,
    '',
    ...about.lines.map((line) => `**${escapeText(line)}**\n`),
    '| runs | difference |',
    '|---:|---|',
    `| ${formatNumber(same)} | same |`,
    ...groups.slice(0, SHOWN).map((group) => `| ${formatNumber(group.count)} | ${describe(group, about)} |`),
    ...cannotSay
      .slice(0, SHOWN)
      .map(({ count, question }) => `| ${formatNumber(count)} | cannot say: ${quote(question)} |`),
    ...listUncompared(found).map(([count, what]) => `| ${formatNumber(count)} | ${escapeText(what)} |`),
    '',
    ...listFindings(found).map((line) => `- ${escapeText(line)}`),
    ...groups.slice(0, SHOWN).flatMap((group) => describeSamples(group)),
    '',
  ].join('\n')
}

type Group = Backtest['groups'][number]

function describe({ key, bytes, changes }: Group, { accepted }: AboutBacktest): string {
  const lines = changes.length === 0 ? ['other differences'] : changes.map(({ text }) => quote(text))
  const size = bytes === 0 ? '' : ` (${formatBytes(bytes)})`
  return `${lines.join('<br>')}${size}${accepted.has(key) ? ' — accepted' : ''}`
}

function describeSamples({ key, samples }: Group): string[] {
  return [
    '',
    `<details><summary>${escapeText(formatText(key, 200))}</summary>`,
    '',
    ...samples.slice(0, SAMPLES).map((each) => `- \`${commandOf(each)}\`${each.event ? ` (${each.event})` : ''}`),
    '',
    '</details>',
  ]
}

/** Foreign text as code: nothing in it is Markdown or HTML. */
function quote(text: string): string {
  return `<code>${escapeText(formatText(text, 300))}</code>`
}

function escapeText(text: string): string {
  const signs: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '|': '&#124;', '`': '&#96;' }
  return text.replace(/[&<>|`]/g, (sign) => signs[sign] ?? sign)
}
