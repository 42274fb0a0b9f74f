/** What the settings of the assistant choose from. */

export const connectors = ['openai', 'anthropic'] as const
export type AssistantConnector = (typeof connectors)[number]

/** What a model may be sent: the data model alone, or also items. */
export const dataLevels = ['model', 'rows'] as const
export type DataLevel = (typeof dataLevels)[number]
