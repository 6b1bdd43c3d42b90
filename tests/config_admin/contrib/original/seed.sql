-- A parcel desk, in the shape in which the original's documents print their rows.
BEGIN;

INSERT INTO ce_intent (intent_code, description, priority, enabled, display_name, llm_hint, created_at)
VALUES ('PARCEL_STATUS', 'Customer asks where a parcel is.', 10, true, 'Where is my parcel', NULL, now());
INSERT INTO ce_intent (intent_code, description, priority, enabled)
VALUES ('PARCEL_REDIRECT', 'Customer wants a parcel sent elsewhere.', 20, true),
       ('PARCEL_REFUND', 'Customer wants the postage back.', 30, 't');
INSERT INTO public.ce_intent (intent_code, description, priority, enabled)
VALUES ('RESET_SESSION', 'Customer wants to begin anew.', 90, 1);
INSERT INTO ce_intent (intent_code, description) VALUES ('FAQ', 'Questions that a page answers.') ON CONFLICT DO NOTHING;

INSERT INTO ce_intent_classifier (intent_code, rule_type, pattern, priority, enabled, description)
VALUES ('PARCEL_STATUS', 'REGEX', '\b(where|track)\b.*\bparcel\b', 10, true, 'plain wording');
INSERT INTO ce_intent_classifier (intent_code, state_code, rule_type, pattern, priority, enabled)
VALUES ('PARCEL_REDIRECT', 'COLLECT', 'regex', E'\\b(redirect|send)\\b.*\\belsewhere\\b', 20, true);
INSERT INTO ce_intent_classifier (intent_code, rule_type, pattern) VALUES ('PARCEL_REFUND', 'contains', 'postage back');
INSERT INTO ce_intent_classifier (intent_code, rule_type, pattern)
VALUES ('FAQ', 'REGEX', '(?!parcel)opening hours');
INSERT INTO ce_intent_classifier (intent_code, rule_type, pattern) VALUES ('RESET_SESSION', 'STARTS_WITH', 'begin anew');

INSERT INTO ce_config (config_type, config_key, config_value, enabled)
VALUES ('IntentResolutionStep', 'STICKY_INTENT', 'true', true);
INSERT INTO ce_config (config_type, config_key, config_value, enabled)
VALUES ('ResetResolvedIntentStep', 'RESET_INTENT_CODES', 'RESET_SESSION', true);
INSERT INTO ce_config (config_id, config_type, config_key, config_value, enabled)
VALUES (7, 'DialogueActStep', 'MODE', 'REGEX_ONLY', true);

INSERT INTO ce_output_schema (intent_code, state_code, json_schema, description, enabled, priority)
VALUES ('PARCEL_REDIRECT', 'COLLECT',
  '{"type": "object", "properties": {"parcelId": {"type": "string"}, "address": {"type": "string"}}, "required": ["parcelId", "address"]}'::jsonb,
  'what a redirection needs', true, 1);
INSERT INTO ce_output_schema (intent_code, state_code, json_schema)
VALUES ('PARCEL_REFUND', NULL, CAST('{"type": "object", "properties": {"parcelId": {"type": "string"}}, "required": ["parcelId"]}' AS jsonb));
INSERT INTO ce_output_schema (intent_code, state_code, json_schema)
VALUES ('PARCEL_STATUS', 'ANY', '{"type": "object"');

INSERT INTO ce_prompt_template (intent_code, state_code, response_type, system_prompt, user_prompt, temperature, interaction_mode, enabled, created_at)
VALUES ('PARCEL_REDIRECT', 'COLLECT', 'SCHEMA_JSON', 'Read the fields of {{schema}}.', 'Text: {{user_input}}', 0.0, 'COLLECT', true, CURRENT_TIMESTAMP);
INSERT INTO ce_prompt_template (intent_code, state_code, response_type, system_prompt, user_prompt, temperature, enabled, created_at)
VALUES ('PARCEL_REFUND', 'ANY', 'SCHEMA_JSON', 'Read the fields.', 'Text: [[${user_input}]]', 0.10, true, '2025-03-01 09:30:00');
INSERT INTO ce_prompt_template (intent_code, state_code, response_type, system_prompt, user_prompt)
VALUES ('PARCEL_STATUS', 'ANY', 'DERIVED', 'Say it kindly.', '{{user_input}}');
INSERT INTO ce_prompt_template (intent_code, state_code, output_format, system_prompt, user_prompt)
VALUES ('PARCEL_STATUS', 'ANY', 'TEXT', $$Say where it's at.$$, '#{user_input}');

INSERT INTO ce_response (intent_code, state_code, output_format, response_type, exact_text, priority, enabled, description)
VALUES ('PARCEL_REDIRECT', 'COLLECT', 'TEXT', 'EXACT', 'Which parcel, and where to?', 10, true, 'asks');
INSERT INTO ce_response (intent_code, state_code, output_format, response_type, exact_text, priority, enabled)
VALUES ('PARCEL_REDIRECT', 'CONFIRM', 'text', 'exact', 'Send parcel [(${parcelId})] to #{address}?', 10, true);
INSERT INTO ce_response (intent_code, state_code, output_format, response_type, derivation_hint, priority, enabled)
VALUES ('PARCEL_STATUS', 'ANY', 'TEXT', 'DERIVED', 'Two sentences at most.', 100, true);
INSERT INTO ce_response (intent_code, state_code, output_format, response_type, exact_text)
VALUES ('PARCEL_REFUND', '', 'TEXT', 'EXACT', 'We pay the postage back in '
  'three days.');
INSERT INTO ce_response (intent_code, state_code, output_format, response_type, exact_text)
VALUES ('FAQ', 'ANY', 'JSON', 'EXACT', '{"kind": "faq", "text": "Open from 8 to 6."}');

INSERT INTO ce_rule (rule_id, phase, intent_code, state_code, rule_type, match_pattern, action, action_value, priority, enabled, description)
VALUES (101, 'PIPELINE_RULES', 'PARCEL_REDIRECT', 'COLLECT', 'JSON_PATH', '$[?(@.schemaComplete == true)]', 'SET_STATE', 'CONFIRM', 10, true, 'all there');
INSERT INTO ce_rule (rule_id, phase, intent_code, state_code, rule_type, match_pattern, action, action_value, priority, enabled, description)
VALUES (102, 'AGENT_POST_INTENT', 'PARCEL_STATUS', 'ANY', 'EXACT', 'ANY', 'SET_STATE', 'ANSWER', 10, true, NULL),
       (103, 'CLASSIFIER_POST_INTENT', 'PARCEL_STATUS', 'ANY', 'EXACT', 'ANY', 'SET_STATE', 'ANSWER', 10, 'yes', NULL);
INSERT INTO ce_rule (phase, intent_code, state_code, rule_type, match_pattern, action, action_value, priority)
VALUES ('PRE_RESPONSE_RESOLUTION', 'PARCEL_REDIRECT', 'CONFIRM', 'REGEX', '^(yes|ok)$', 'SET_STATE', 'COMPLETED', 10);
INSERT INTO ce_rule (phase, intent_code, state_code, rule_type, match_pattern, action, action_value, priority)
VALUES ('PRE_RESPONSE_RESOLUTION', 'PARCEL_REDIRECT', 'CONFIRM', 'REGEX', '(a+)\1', 'SET_STATE', 'COMPLETED', 10);
INSERT INTO ce_rule (phase, intent_code, state_code, rule_type, match_pattern, action, action_value, priority)
VALUES ('PRE_RESPONSE_RESOLUTION', 'PARCEL_REDIRECT', 'CONFIRM', 'EXACT', 'no', 'SET_STAT', 'COLLECT', 10);

INSERT INTO ce_state_graph (intent_code, from_state, to_state, enabled) VALUES ('PARCEL_REDIRECT', 'COLLECT', 'CONFIRM', true);
INSERT INTO ce_state_graph (from_state, to_state) VALUES ('CONFIRM', 'COMPLETED');
INSERT INTO ce_state_graph (from_state, to_state) VALUES ('IDLE', 'COLLECT');

INSERT INTO ce_policy (rule_type, pattern, response_text, priority, enabled)
VALUES ('REGEX', '\b(iban|pin)\b', 'Please do not send bank details.', DEFAULT, true);
INSERT INTO ce_policy (rule_type, pattern, response_text) VALUES ('CONTAINS', 'password', 'Please keep that to yourself.');

INSERT INTO ce_mcp_tool (tool_id, tool_code, tool_group, intent_code, state_code, enabled, description, created_at)
VALUES (5, 'parcel.find', 'MCP_DB', 'PARCEL_STATUS', 'ANY', true, 'Finds a parcel by its id.', now());
INSERT INTO ce_mcp_tool (tool_id, tool_code, tool_group, intent_code, state_code, enabled, description)
VALUES (6, 'parcel.carrier', 'API', 'PARCEL_STATUS', 'ANY', true, 'Asks the carrier.');
INSERT INTO ce_mcp_db_tool (tool_id, dialect, sql_template, param_schema, safe_mode, max_rows)
VALUES (5, 'postgres', 'SELECT id, place FROM parcels WHERE id = :id LIMIT :limit',
  '{"type": "object", "properties": {"id": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["id"]}'::jsonb, true, 50);
INSERT INTO ce_mcp_planner (intent_code, state_code, system_prompt, user_prompt, enabled)
VALUES ('PARCEL_STATUS', 'ANY', 'Plan with the tools.', E'Tools: {{mcp_tools}}\nText: {{user_input}}', true);
INSERT INTO ce_mcp_sql_guardrail (rule_type, match_value, enabled) VALUES ('BLOCK_FUNCTION', 'PG_READ_FILE', true);

INSERT INTO ce_verbose (intent_code, state_code, step_match, step_value, determinant, rule_id, message, priority, enabled, created_at)
VALUES ('PARCEL_REDIRECT', NULL, 'EXACT', 'RulesStep', 'RULE_MATCH', 101, 'Got everything.', 10, true, now());
INSERT INTO ce_verbose (intent_code, state_code, step_match, step_value, determinant, message, error_message)
VALUES ('ANY', 'ANY', 'regex', '.*Step$', 'STEP_ERROR', NULL, 'Something went wrong.');

SELECT setval('ce_rule_rule_id_seq', 104);
UPDATE ce_intent SET enabled = false;
INSERT INTO ce_conversation (conversation_id, status) VALUES ('7f0c', 'RUNNING');
INSERT INTO ce_semantic_concept (concept_key, concept_kind) VALUES ('PARCEL', 'ENTITY');
COMMIT;
