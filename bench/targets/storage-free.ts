import { answerCalls } from '../processes/answer-calls.ts'
import { listenByHand } from './hand-written.ts'

/** The receiver written by hand, without a store. */
answerCalls({ start: () => listenByHand(() => null) })
