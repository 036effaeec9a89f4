import { expect, test } from 'vitest'
import { findOtherPath, redactWords } from '../../../../src/app/backtest/corpus/redact-words.ts'
import { rewriteSide } from '../../../../src/app/preview/rewrite-run.ts'
import type { Deed, RunSide } from '../../../../src/engine/preview/compare/deed.ts'
import { tempFolder } from '../../../support/temp-folder.ts'

const deedOf = (step: string, after: string | null, begunBefore: number): Deed => ({
  step,
  class: 'write',
  operation: step,
  target: null,
  bytes: null,
  after,
  begunBefore,
})
const sideOf = (...deeds: Deed[]): RunSide => ({ end: { kind: 'completed', text: '', output: null }, deeds })

test('with other words, an effect has to wait for the same one as with the own words', () => {
  const rewriting = redactWords({ workflowsDir: tempFolder(), spellings: {} }, [], Buffer.alloc(32, 7))
  const own = sideOf(deedOf('save invoices', null, 1), deedOf('drop originals', 'save invoices', 2))
  const reversed = sideOf(deedOf('drop originals', null, 2), deedOf('save invoices', null, 2))
  expect(findOtherPath(rewriting, own, rewriteSide(rewriting, own))).toBeNull()
  expect(findOtherPath(rewriting, own, rewriteSide(rewriting, reversed))).toBe('its steps come in another order')
})
