import { buffer } from 'node:stream/consumers'
import { type Command, Option } from '@commander-js/extra-typings'
import { InvalidArgumentError } from 'commander'
import { UpshotError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { SCHEME_PRESETS, signBody } from '../../../core/incoming/signature.ts'
import { isPlainObject } from '../../../core/json.ts'
import { isoTime, systemClock } from '../../../core/time.ts'
import { readBytes, readSecret } from '../../input/read-source.ts'
import { addSecretOptions, parseHeader, parseScheme, SCHEME_HELP, withHeader } from '../../input/signing-options.ts'
import { deliver } from '../../send/deliver.ts'
import { sampleData } from '../../send/sample-data.ts'
import { formatText } from '../../terminal/format-value.ts'
import { onInterrupt } from '../../terminal/on-interrupt.ts'
import type { Output } from '../../terminal/output.ts'

/**
 * `upshot endpoints send <url>`: any body, signed with any secret, to any URL; neither store nor
 * app is needed.
 */
export function define(command: Command, out: Output): void {
  addSecretOptions(
    command
      .argument('<url>', 'where to, such as https://hooks.example.com/hooks/main-…', parseUrl)
      .addOption(new Option('--scheme <scheme>', SCHEME_HELP).argParser(parseScheme).default(SCHEME_PRESETS.hex, 'hex'))
      .option('--header <name>', 'header that carries the signature (default: the one of the scheme)', parseHeader)
      .option('--file <file>', 'the body, byte by byte; - for standard input (default: a sample file.created)'),
  ).action(async (url, { scheme, header, file, ...source }) => {
    if (file === '-' && source.secretStdin) {
      throw new UpshotError('invalid_request', 'Standard input cannot hold both the secret and the body.')
    }
    const secret = await readSecret(source)
    if (secret === undefined) {
      throw new UpshotError('invalid_request', 'There is no secret to sign with.', {
        details: { fix: 'Add --secret-file, --secret-stdin or --secret-env.' },
      })
    }
    const now = systemClock.now()
    const body = await readBody(file, now)
    const headers = signBody(withHeader(scheme, header), secret, { id: findId(body) ?? newId('evt', now), body }, now)
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
  throw new InvalidArgumentError('It is an http or https address without a login.')
}

/** Bytes, never text: the signature is over what is in the file, line breaks and all. */
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
  if (file !== '-') return readBytes(file)
  if (!process.stdin.isTTY) return buffer(process.stdin)
  throw new UpshotError('invalid_request', 'Standard input is a terminal, and the body must be piped in.')
}

/** The event's own id, which schemes with an id sign; null where the body has none. */
function findId(body: Buffer): string | null {
  try {
    const content: unknown = JSON.parse(body.toString('utf8'))
    return isPlainObject(content) && typeof content.id === 'string' ? content.id : null
  } catch {
    return null
  }
}
