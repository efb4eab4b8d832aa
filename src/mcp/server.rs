//! The protocol's requests, answered from one session's toolset.

use std::sync::OnceLock;
use std::time::Instant;

use axum::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Extensions, Implementation, InitializeRequestParams,
    InitializeResult, JsonObject, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use super::callers::{Caller, Key};
use super::{INSTRUCTIONS, call, log, resources};
use crate::Toolset;
use crate::error::{Error, ErrorCode};
use crate::toolset::ToolDefinition;

/// One session: on stdio the whole process, over HTTP what `initialize` opens, or a single request of a client whose
/// protocol has no sessions.
#[derive(Default)]
pub(super) struct Server {
    session: OnceLock<Session>,
    log: log::Asked,
}

struct Session {
    key: Key,
    toolset: Toolset,
}

impl Server {
    /// A session over this toolset.
    pub(super) fn new(toolset: Toolset) -> Self {
        let server = Self::default();
        // It is new, so nothing is there yet.
        let _ = server.session.set(Session { key: None, toolset });
        server
    }

    /// The toolset for a request: the session's, which no other token may use, or the caller's own.
    fn toolset(&self, extensions: &Extensions) -> Result<Toolset, ErrorData> {
        match (self.session.get(), caller(extensions)) {
            (Some(session), None) => Ok(session.toolset.clone()),
            (Some(session), Some(caller)) if session.key == caller.key => Ok(session.toolset.clone()),
            (Some(_), Some(_)) => Err(ErrorData::invalid_request("this session was opened with another token", None)),
            (None, Some(caller)) => Ok(caller.without_session()),
            (None, None) => Err(ErrorData::internal_error("the request names no caller", None)),
        }
    }

    /// Calls a tool as long as somebody waits for it, and logs how it went.
    async fn call(
        &self,
        tool: &str,
        arguments: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Result<String, Error>, ErrorData> {
        let toolset = self.toolset(&context.extensions)?;
        let started = Instant::now();
        let gone = async {
            match caller(&context.extensions) {
                Some(caller) => caller.gone.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let outcome = call::watched(toolset.call(tool, arguments), context, gone).await;
        log::call(tool, &outcome, started.elapsed(), context, &self.log).await;
        Ok(outcome)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_resources().enable_tools().build();
        log::announce(&mut capabilities);
        let name =
            Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")).with_title("DataFusion toolset");
        ServerConfig::new(capabilities).with_server_info(name).with_instructions(INSTRUCTIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if let Some(caller) = caller(&context.extensions) {
            self.session.get_or_init(|| Session { key: caller.key, toolset: caller.toolset.clone() });
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let toolset = self.toolset(&context.extensions)?;
        Ok(ListToolsResult::with_all_items(toolset.definitions().into_iter().map(tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.map(|arguments| Value::Object(arguments).to_string());
        let outcome = self.call(&request.name, arguments.as_deref().unwrap_or_default(), &context).await?;
        Ok(call::result(outcome).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let toolset = self.toolset(&context.extensions)?;
        let tables = toolset.list_tables(None).await.map_err(protocol_error)?;
        resources::page(&tables, request.and_then(|request| request.cursor).as_deref())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(table) = resources::table(&request.uri) else {
            let message = format!("there is no such resource; write {}", resources::TEMPLATE);
            return Err(ErrorData::resource_not_found(message, None));
        };
        let arguments = serde_json::json!({ "table_name": table }).to_string();
        let payload = self.call("get_schema", &arguments, &context).await?.map_err(protocol_error)?;
        Ok(resources::contents(payload, request.uri).into())
    }

    async fn set_level(&self, request: log::SetLevel, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.log.set(&request);
        Ok(())
    }
}

/// Who sent a request over HTTP.
fn caller(extensions: &Extensions) -> Option<&Caller> {
    extensions.get::<Parts>()?.extensions.get::<Caller>()
}

fn tool(definition: ToolDefinition) -> Tool {
    let schema = match definition.input_schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    // The domain is closed: the registered tables and nothing else. `destructiveHint` and `idempotentHint` mean nothing
    // for a tool that only reads.
    let annotations = ToolAnnotations::with_title(definition.title).read_only(true).open_world(false);
    Tool::new(definition.name, definition.description, schema)
        .with_title(definition.title)
        .with_annotations(annotations)
}

/// A failure outside of a tool call, where the protocol has no `isError`.
fn protocol_error(error: Error) -> ErrorData {
    let data = serde_json::from_str(&error.json()).ok();
    match error.code() {
        ErrorCode::UnknownTable => ErrorData::resource_not_found(error.message().to_owned(), data),
        _ => ErrorData::internal_error(error.message().to_owned(), data),
    }
}
