/** `codeAtWork`: a `CodeAtWork`; `replacedBy`: what took the place of a function of JavaScript. */
export type AnswerName = 'codeAtWork' | 'replacedBy'

/** Lets a `Question` of the main thread find this answer on the global object. */
export function giveAnswer(name: AnswerName, answer: () => unknown): void {
  Object.defineProperty(globalThis, Symbol.for(`upshot.${name}`), { value: answer })
}
