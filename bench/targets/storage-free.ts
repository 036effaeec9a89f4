import { answerCalls } from './answer-calls.ts'
import { listenByHand } from './hand-written.ts'

/** A receiver written by hand that keeps nothing. */
answerCalls({ start: () => listenByHand(() => null) })
