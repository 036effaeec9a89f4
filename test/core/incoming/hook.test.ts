import { expect, test } from 'vitest'
import { asPreviewed, maskTokens } from '../../../src/core/incoming/hook.ts'
import { cpuMsOf } from '../../support/cpu-time.ts'

const id = '0'.repeat(26)
const url = `https://upshot.example.com/callbacks/${id}${'1'.repeat(32)}`
const preview = `https://callbacks.invalid/hok_${id}`

test('the URL of a hook is masked also as a parameter of another URL', () => {
  for (const text of [url, encodeURIComponent(url), encodeURIComponent(url).toLowerCase()]) {
    expect(maskTokens(`https://forms.example.com/new?to=${text}&x=1`)).not.toContain('1'.repeat(32))
  }
})

test('the URL of a hook is masked in JSON within a text, and as a parameter of a parameter', () => {
  const twice = encodeURIComponent(encodeURIComponent(url))
  for (const text of [url.replaceAll('/', '\\/'), JSON.stringify(url.replaceAll('/', '\\/')), twice]) {
    expect(maskTokens(text)).toBe(text.replace('1'.repeat(32), '…'))
  }
})

test('a preview has its own URL of a hook also as a parameter of another URL', () => {
  const form = (to: string) => `https://forms.example.com/new?to=${to}&x=1`
  for (const each of [url, maskTokens(url)]) {
    expect(asPreviewed(form(each))).toBe(form(preview))
    expect(asPreviewed(`${each},${each}`)).toBe(`${preview},${preview}`)
  }
  for (const each of [encodeURIComponent(url), maskTokens(encodeURIComponent(url))]) {
    expect(asPreviewed(form(each))).toBe(form(encodeURIComponent(preview)))
  }
})

test('a text of many addresses is looked through in time that grows with its length', async () => {
  const text = `${'http://a/'.repeat(50_000)} /callbacks/`
  expect(await cpuMsOf(() => asPreviewed(text))).toBeLessThan(1_000)
})
