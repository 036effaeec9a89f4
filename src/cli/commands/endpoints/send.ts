import { type Command, Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { deliver } from '../../../app/deliver.ts'
import { refuse } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { SCHEME_PRESETS, signBody } from '../../../core/incoming/signature.ts'
import { isPlainObject, parseJson } from '../../../core/json.ts'
import { isoTime } from '../../../core/time.ts'
import type { Cli } from '../../command.ts'
import { commandClock } from '../../command-clock.ts'
import { readBytes, readSecret, readStdinBytes } from '../../input/read-source.ts'
import { addSecretOptions, parseHeader, parseScheme, SCHEME_HELP, withHeader } from '../../input/signing-options.ts'
import { isDryRun } from '../../operate/act-command.ts'
import { sampleData } from '../../send/sample-data.ts'
import { formatText } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'

export function define(command: Command, { out }: Cli): void {
  addSecretOptions(
    command
      .argument('<url>', 'http or https URL of the receiver, such as https://hooks.example.com/hooks/main-…', parseUrl)
      .addOption(new Option('--scheme <scheme>', SCHEME_HELP).argParser(parseScheme).default(SCHEME_PRESETS.hex, 'hex'))
      .option('--header <name>', 'name of the signature header (default: that of the scheme)', parseHeader)
      .option(
        '--file <file>',
        'file with the bytes of the body; - for standard input (default: a sample file.created)',
      ),
  ).action(async (url, { scheme, header, file, ...source }) => {
    if (file === '-' && source.secretStdin) {
      const fix = 'Read the secret with --secret-file or --secret-env.'
      throw refuse('Standard input cannot hold both the secret and the body.', fix)
    }
    const secret = await readSecret(source)
    if (secret === undefined) {
      throw refuse('No secret was given to sign with.', 'Add --secret-file, --secret-stdin or --secret-env.')
    }
    const now = commandClock.now()
    const body = await readBody(file, now)
    const headers = signBody(withHeader(scheme, header), secret, { id: findId(body) ?? newId('evt', now), body }, now)
    if (await isDryRun(out, { will: `post ${body.length} signed bytes to ${url.href}` })) return
    const { status, verdict, text } = await deliver(url.href, { body, headers, signal: onInterrupt() })
    const data = { url: url.href, status, verdict, sentBytes: body.length, headers: Object.keys(headers), answer: text }
    out.result(data, () => [
      `${out.paint(status < 300 ? 'green' : 'red', `HTTP ${status}`)}${verdict === null ? '' : `  ${verdict}`}`,
      ...(text === '' ? [] : text.split('\n').map((line) => formatText(line))),
    ])
    if (status < 200 || status >= 300) out.leaveWith('difference')
  })
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url
  throw new InvalidArgumentError('Give an http or https URL without a login.')
}

/** The exact bytes: the signature covers every line break of the file. */
async function readBody(file: string | undefined, now: number): Promise<Buffer> {
  if (file === undefined) {
    const event = {
      id: newId('evt', now),
      type: 'file.created',
      created: isoTime(now),
      data: sampleData('file.created', now),
    }
    return Buffer.from(JSON.stringify(event))
  }
  return file === '-' ? readStdinBytes('the body') : readBytes(file)
}

/** The id of the event, which some schemes sign; null if the body has none. */
function findId(body: Buffer): string | null {
  const content = parseJson(body.toString('utf8'))
  return isPlainObject(content) && typeof content.id === 'string' ? content.id : null
}
