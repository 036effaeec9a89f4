/**
 * What the command line said about the project before any command reads it. One process runs one
 * command, so it stands here instead of in the arguments of everything that opens the project.
 */
export const projectChoice: { configFile: string | null } = { configFile: null }
